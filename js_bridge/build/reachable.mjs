// Leaves out of Emscripten's script what nothing reaches.
//
// The script is one function, which makes a module. Pyodide's has libraries for all that packages might import, such
// as windows, sound and graphics, and names for all exports of its WebAssembly. What is declared there is kept if
// something kept mentions it, as a garbage collector does it: wherever a name stands, it is taken for a mention.

import { parse } from "acorn";

/**
 * The script without what neither it nor anyone else asks for.
 *
 * @param {string} script  an ES module
 * @param {ReadonlySet<string>} imported  the names of what its WebAssembly imports
 * @param {string} askers  scripts that ask its module for things by name
 */
export const reachable = (script, imported, askers) => {
  const options = { ecmaVersion: "latest", sourceType: "module" };
  const { body } = parse(script, options).body.find(isFunction).body;
  const parts = body.flatMap((node) => partsOf(node, imported));
  const words = [...askers.matchAll(/\w+/g)].map(([word]) => `.${word}`);
  const kept = mark(parts, words);
  const gone = parts.filter((part) => !kept.has(part));
  return without(script, body, new Set(gone.map(({ node }) => node)));
};

/**
 * What is kept or left out as a whole: kept if one of its names is mentioned (a variable's, or after a dot that of a
 * property of the module), or in any case if `names` is undefined; and with it what it mentions.
 *
 * @typedef {{ node: object, names?: readonly string[], mentions: Set<string> }} Part
 */

/** @returns {Part[]} */
const partsOf = (node, imported) => {
  const { type } = node;
  const part = (names) => [{ node, names, mentions: mentionsIn(node) }];
  if (isFunction(node) && node.id.name === "assignWasmExports")
    return node.body.body.flatMap((inner) => partsOf(inner, imported));
  if (isFunction(node) || type === "ClassDeclaration")
    return part([node.id.name]);
  if (type === "VariableDeclaration")
    return node.declarations.flatMap((one) => variableParts(one, imported));
  return part(
    type === "ExpressionStatement" ? ownersOf(node.expression) : undefined,
  );
};

/** @returns {Part[]} */
const variableParts = (node, imported) => {
  const { id, init } = node;
  if (isTable(node))
    return init.properties.map((property) => ({
      node: property,
      names: imported.has(property.key.name) ? undefined : [],
      mentions: mentionsIn(property.value),
    }));
  const names =
    id.type === "Identifier" && isInert(init) ? [id.name] : undefined;
  return [{ node, names, mentions: mentionsIn(node) }];
};

const isFunction = ({ type }) => type === "FunctionDeclaration";

/** Whether a variable is what the script has for its WebAssembly to import. */
const isTable = ({ id }) => id.name === "wasmImports";

/**
 * For whom an assignment is: `f.sig = …` for `f`, `Module["f"] = …` for who asks the module for `f`, and
 * `f = Module["f"] = wasmExports[…]` for both. Undefined if it is for anyone, or does something besides.
 */
const ownersOf = ({ type, left, right }) => {
  if (type !== "AssignmentExpression") return undefined;
  if (left.type === "Identifier") {
    const owners = ownersOf(right);
    return owners && [left.name, ...owners];
  }
  const { object, property } = left;
  if (object.type !== "Identifier" || !isInert(right)) return undefined;
  if (object.name === "Module") return [`.${property.value ?? property.name}`];
  return property.name === "sig" ? [object.name] : undefined;
};

/** Whether to evaluate an expression does nothing but make a value. */
const isInert = (node) => {
  switch (node?.type) {
    case undefined:
    case "ArrowFunctionExpression":
    case "FunctionExpression":
    case "Identifier":
    case "Literal":
      return true;
    case "ArrayExpression":
      return node.elements.every(isInert);
    case "BinaryExpression":
      return isInert(node.left) && isInert(node.right);
    case "MemberExpression":
      return isInert(node.object) && isInert(node.property);
    case "ObjectExpression":
      return node.properties.every(
        ({ computed, value }) => !computed && isInert(value),
      );
    case "UnaryExpression":
      return isInert(node.argument);
  }
  return false;
};

/** Every name in a part of the syntax tree, and after a dot every name and text: it may be that of a property. */
const mentionsIn = (node, found = new Set()) => {
  if (node.type === "Identifier") found.add(node.name).add(`.${node.name}`);
  else if (node.type === "Literal") found.add(`.${node.value}`);
  for (const child of Object.values(node).flat())
    if (child?.type) mentionsIn(child, found);
  return found;
};

/** The parts that are kept. */
const mark = (parts, words) => {
  const owned = new Map();
  for (const part of parts)
    for (const name of part.names ?? [])
      owned.set(name, [...(owned.get(name) ?? []), part]);
  const kept = new Set(parts.filter(({ names }) => !names));
  const reach = (name) => owned.get(name)?.forEach((part) => kept.add(part));
  words.forEach(reach);
  // those that are added meanwhile have their turn, too
  for (const { mentions } of kept) mentions.forEach(reach);
  return kept;
};

/** The script without those nodes, which are statements of `body` or parts of such. */
const without = (script, body, gone) => {
  let text = "";
  let at = 0;
  const skip = (start, end) => {
    text += script.slice(at, start);
    at = end;
  };
  const statement = (node) => {
    const { declarations, start, end } = node;
    if (gone.has(node) || declarations?.every((one) => gone.has(one)))
      skip(start, end);
    else if (declarations) list(declarations);
    else if (isFunction(node)) node.body.body.forEach(statement);
  };
  const list = (items) => {
    const last = items.findLastIndex((item) => !gone.has(item));
    items.forEach((item, k) => {
      // with the comma behind, or of the last ones that before
      if (!gone.has(item)) {
        if (item.id && isTable(item)) list(item.init.properties);
      } else if (k < last) skip(item.start, items[k + 1].start);
      else skip(items[k - 1].end, item.end);
    });
  };
  body.forEach(statement);
  return text + script.slice(at);
};
