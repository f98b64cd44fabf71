// Penrose's diagrams with our rose and with its own, side by side.

import * as idle from "../penrose/bundles/idle.js";
import * as original from "../penrose/bundles/original.js";
import * as ours from "../penrose/bundles/ours.js";
import { mustAgree } from "./agree.js";
import { calling, callTimes, stageTimes, summary } from "./measure.js";
import { watch } from "./probe.js";

const LIBRARIES = { ours, original };

const text = async (address) => (await fetch(address)).text();

const trio = async (name) => {
  const file = (kind) => text(`../penrose/diagrams/${name}/${name}.${kind}`);
  const [domain, substance, style] = await Promise.all(
    ["domain", "substance", "style"].map(file),
  );
  return { domain, substance, style, variation: "rose" };
};

let started;

const ready = () =>
  (started ??= ours.start(new URL("../", import.meta.url), "worker", {
    incremental: false,
  }));

/** A diagram with our rose. @param {string} name */
export const load = async (name) => {
  await ready();
  return { client: ours, state: await ours.load(await trio(name)) };
};

/** A call of the gradient as Penrose's optimiser makes it: the arrays are there. */
const caller = (state) => {
  const [stage] = state.optStages;
  const masks = state.constraintSets.get(stage);
  const x = new Float64Array(state.varyingValues);
  const gradient = new Float64Array(x.length);
  const { weight } = state.params;
  return calling(state.gradient, masks, x, weight, gradient);
};

/**
 * Measure a diagram: milliseconds from Penrose's expressions to a function that can be called (`callable`), and
 * to one that is compiled (`compile`), of which until the function is recorded (`record`; npm's rose
 * differentiates and emits meanwhile) and in the engine (`engine`); microseconds of a call of the gradient as Penrose makes it (`gradient`), and of its
 * WebAssembly alone (`body`); and bytes. Of such a call, what Penrose does itself (`idle.gradient`).
 *
 * @param {string} name
 * @param {{ calls?: object, stages?: object }} [options]
 */
export const measure = async (name, { calls, stages } = {}) => {
  await ready();
  const diagram = await trio(name);
  /** @type {Record<string, object>} */
  const found = {};
  const tasks = {};
  const called = {};
  let expected;
  for (const [library, client] of Object.entries(LIBRARIES)) {
    const state = await client.load(diagram);
    tasks[library] = async () => {
      const start = performance.now();
      let recorded = start;
      let callable = start;
      client.setDraft(true);
      const { seen } = await watch(async () => {
        const made = client.anew(state);
        recorded = performance.now();
        await made;
        callable = performance.now();
      });
      client.setDraft(false);
      return {
        callable: callable - start,
        compile: Math.max(callable, seen.end) - start,
        record: recorded - start,
        engine: seen.compile + seen.instantiate,
      };
    };
    const { result, seen } = await watch(() => client.anew(state));
    const call = await caller(result);
    const { phi } = call();
    expected ??= phi;
    mustAgree([phi], [expected], 1e-9, `the energy of ${name}`);
    found[library] = { bytes: seen.bytes };
    called[library] = { call, bytes: seen.bytes };
    called[`${library}, body`] = {
      call: await calling(...seen.called),
      bytes: seen.bytes,
    };
  }
  const state = await idle.load(diagram);
  called.idle = { call: await caller(state) };
  const times = callTimes(called, calls);
  const staged = await stageTimes(tasks, { turns: 5, ...stages });
  for (const library of Object.keys(LIBRARIES))
    Object.assign(found[library], staged[library], {
      gradient: summary(times[library]),
      body: summary(times[`${library}, body`]),
    });
  found.idle = { gradient: summary(times.idle) };
  return found;
};
