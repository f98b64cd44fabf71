import { load } from "./chain";

const find = <T extends HTMLElement>(id: string): T =>
  document.getElementById(id) as T;

const span = find<HTMLInputElement>("span");
const rest = await load();

const show = () => {
  const { energy, pull } = rest(span.valueAsNumber);
  find("energy").textContent = energy.toFixed(6);
  find("pull").textContent = pull.toFixed(6);
};
span.addEventListener("input", show);
show();
