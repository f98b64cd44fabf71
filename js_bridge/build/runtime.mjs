// Makes the Python runtime of dist/pyodide out of the npm package `pyodide`.
//
//   node runtime.mjs runtime OUT        copy Pyodide, with a standard library cut to stdlib.txt
//   node runtime.mjs core OUT WHEEL     compile the wheel to OUT/rose_core.zip, and try it all;
//                                       OUT/rose_core.snapshot.wasm is the memory with the core in it
//   node runtime.mjs modules            print the modules that Pyodide's own start loads
//
// Byte code belongs to one version of Python, so it is compiled by the very Python that
// will run it: Pyodide, here in Node. As shipped, Pyodide compiles more than 100 modules from
// source at every start; that is two thirds of the time until it is ready.

import crypto from "node:crypto";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { transform } from "esbuild";
import { ordered, zeroed } from "./memory.mjs";
import { leaner } from "./leaner.mjs";
import { source } from "./source.mjs";

const HERE = dirname(fileURLToPath(import.meta.url));
const PYODIDE = join(HERE, "..", "node_modules", "pyodide");

/** Python: `compiled(files, to)` writes an archive of byte code made of {name: source}. */
const COMPILER = `
import ast, marshal, zipfile
from importlib.util import MAGIC_NUMBER
from types import CodeType

class Bare(ast.NodeTransformer):
    """Leaves out the annotations of functions and variables, which only a type checker asks for."""

    def visit_ClassDef(self, node):
        for part in node.body:  # fields of dataclasses are found by theirs
            if not isinstance(part, ast.AnnAssign):
                self.visit(part)
        return node

    def visit_AnnAssign(self, node):
        new = ast.Assign([node.target], node.value) if node.value else ast.Pass()
        return ast.copy_location(new, node)

    def visit_FunctionDef(self, node):
        self.generic_visit(node)
        node.returns = None
        return node

    def visit_arg(self, node):
        node.annotation = None
        return node

def at_first_line(code):
    """All of a function at its first line: the tables that tell the others are a seventh of the archive."""
    full, rest = divmod(len(code.co_code) // 2, 8)
    # PEP 626: up to 8 code units, without columns, no line further on
    table = b"\\xef\\0" * full + bytes([0xE8 + rest - 1, 0] if rest else [])
    inner = (at_first_line(x) if isinstance(x, CodeType) else x for x in code.co_consts)
    return code.replace(co_linetable=table, co_consts=tuple(inner))

def compiled(files, to, where, ours=False):
    # Stored, not deflated: servers compress better. Dated alike: same source, same bytes.
    with zipfile.ZipFile(to, "w", zipfile.ZIP_STORED) as archive:
        for name, source in sorted(files.items()):
            # optimize=2 leaves out docstrings and assertions.
            tree = ast.parse(source)
            tree = Bare().visit(tree) if ours else tree
            code = compile(tree, f"{where}/{name}", "exec", dont_inherit=True, optimize=2)
            # Only what goes wrong in our own files is ever looked up, line by line.
            code = code if ours else at_first_line(code)
            # PEP 552: hash-based (1), and not to be checked against a source (no 2), whose hash is no use then.
            head = MAGIC_NUMBER + (1).to_bytes(12, "little")
            info = zipfile.ZipInfo(name + "c", (1980, 1, 1, 0, 0, 0))
            archive.writestr(info, head + marshal.dumps(code))
`;

const STDLIB = `
with zipfile.ZipFile(stdlib) as archive:
    names = set(archive.namelist())
    files, missing = {}, []
    for module in modules:
        path = module.replace(".", "/")
        name = next((n for n in (f"{path}/__init__.py", f"{path}.py") if n in names), None)
        if name:
            files[name] = archive.read(name)
        else:
            missing.append(module)
if missing:
    raise ImportError(f"stdlib.txt names what this Python lacks: {missing}")
compiled(files, "/tmp/out.zip", stdlib)
`;

const CORE = `
import importlib.util, sys

with zipfile.ZipFile(wheel) as archive:
    sources = {n: archive.read(n) for n in archive.namelist() if n.endswith(".py")}

def imported(source):
    """The modules that code imports, also inside functions, and the names that it takes from them."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from ((a.name, []) for a in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module, [a.name for a in node.names]

# What a page can come to: not the command line, say, nor what the build or tests alone import.
files, wanted, ahead = {}, {}, ["rose_core", "rose_core.bridge"]
while ahead:
    path = ahead.pop().replace(".", "/")
    name = next((n for n in (f"{path}/__init__.py", f"{path}.py") if n in sources), None)
    if name is None or name in files:
        continue
    files[name] = sources[name]
    for module, names in imported(sources[name]):
        # a name may be a module in a package
        ahead += [module.rpartition(".")[0], module, *(f"{module}.{n}" for n in names)]
        if module.partition(".")[0] in sys.stdlib_module_names:
            wanted[module] = name
compiled(files, "/tmp/out.zip", where, ours=True)

# Also imports inside functions must be found, before a reader runs into them.
absent = [f"{m} (in {n})" for m, n in wanted.items() if importlib.util.find_spec(m) is None]
if absent:
    raise ImportError("add to js_bridge/build/stdlib.txt: " + ", ".join(absent))
`;

/** Tracebacks need no columns, which would be more than a quarter of the byte code, compressed. */
const COMPACT = () => ({ env: { HOME: "/home", PYTHONNODEBUGRANGES: "1" } });

/** In the end what is free is filled with zeros, which need not be kept, also where it was not Python's own. */
const SNAPSHOT = `
import gc, importlib, sys, traceback
sys.path.insert(0, "WHERE")
for name in "MODULES".split():
    importlib.import_module(name)
gc.collect()
sys._clear_internal_caches()

def clear():
    end = id(bytes(1 << 22))  # beyond all that is used
    head = sys.getsizeof(b"")
    sizes = [*range(head + 2, 512), *(1 << k for k in range(20, 9, -1))]
    held = []
    for size in sizes:
        while id(zeros := bytes(size - head)) < end:
            held.append(zeros)

clear()
del clear, gc, importlib, name, traceback
id(sys.modules)
`;

/** What a page will do, in a fresh runtime made of the files of dist/ alone. */
const TRIAL = `
import sys, traceback
sys.path.insert(0, where)
import rose_core
assert rose_core.__file__.startswith(where), rose_core.__file__
try:
    {}["missing"]
except KeyError:
    assert "KeyError: 'missing'" in traceback.format_exc()
rose_core.__version__
`;

async function main(verb, out, wheel) {
  switch (verb) {
    case "runtime":
      return runtime(resolve(out));
    case "core":
      return core(resolve(out), resolve(wheel));
    case "modules":
      return modules();
    default:
      throw new Error(`no such verb: ${verb}`);
  }
}

/**
 * Load Pyodide from a folder, ours or its own, with options that may depend on what makes its module; its stylised
 * start-up notices are not for us.
 */
async function load(folder, options = () => ({})) {
  const script = (name) =>
    import(
      pathToFileURL(
        join(folder, folder === PYODIDE ? `${name}.mjs` : `${name}.js`),
      )
    );
  const { loadPyodide } = await script("pyodide");
  const { default: createPyodideModule } = await script("pyodide.asm");
  return loadPyodide({
    createPyodideModule,
    indexURL: folder,
    ...options(createPyodideModule),
  });
}

async function runtime(out) {
  await rm(out, { recursive: true, force: true });
  await mkdir(out, { recursive: true });
  const about = JSON.parse(await readFile(join(PYODIDE, "package.json")));

  // In Node both modules import `ws`, for sockets that Python opens. It would have to be
  // installed wherever dist/ is copied to, and the core opens none.
  const ws = ['await import("ws")', "{}"];
  const map = [/\n\/\/# sourceMappingURL=.*/, ""];
  // A snapshot comes as a way to make the memory, not as a copy of it, most of which is zero.
  const restore = [
    "Module.HEAP8.set(t),",
    "API.config._restore(Module.HEAPU8),",
  ];
  // Some hosts do not know that an .mjs is a script, and what they say instead no engine runs.
  await write(out, "pyodide.js", await edited("pyodide.mjs", [ws, map]));
  const glue = await edited("pyodide.asm.mjs", [ws, restore]);
  const whole = await readFile(join(PYODIDE, "pyodide.asm.wasm"));
  const [script, wasm] = leaner(glue, whole, await askers());
  await write(out, "pyodide.asm.js", await smaller(script));
  await write(out, "pyodide.asm.wasm", wasm);

  // The lock lists Pyodide's more than 300 packages, of which we load none.
  const lock = JSON.parse(await readFile(join(PYODIDE, "pyodide-lock.json")));
  await write(
    out,
    "pyodide-lock.json",
    JSON.stringify({ ...lock, packages: {} }),
  );

  const list = await readFile(join(HERE, "stdlib.txt"), "utf8");
  const names = list.replace(/#.*/g, "").split(/\s+/).filter(Boolean);
  const python = await load(PYODIDE, COMPACT);
  python.runPython(COMPILER);
  python.globals.set("modules", python.toPy(names));
  python.globals.set("stdlib", stdlibPath(python));
  python.runPython(STDLIB);
  const archive = python.FS.readFile("/tmp/out.zip");
  await write(out, "python_stdlib.zip", archive);

  await write(
    out,
    "NOTICE.txt",
    `Pyodide ${about.version}, ${about.license}, from the npm package "pyodide".\n` +
      `Source: ${about.homepage}\n` +
      `It contains CPython ${lock.info.python}, PSF-2.0. Source: https://www.python.org\n\n` +
      "Changed here: the import of `ws` is taken out of the two scripts, which are .mjs files there, and from one of\n" +
      "them and from pyodide.asm.wasm what neither needs without packages; the option `_restore` restores memory;\n" +
      "python_stdlib.zip holds only some modules of the standard library, compiled.\n",
  );
  const small = gzipSync(archive).length;
  return `Pyodide ${about.version}, ${names.length} modules, ${kB(small)} gzipped`;
}

async function core(out, wheel) {
  // Where the archive will be in the runtime's file system; tracebacks show it.
  const where = "/lib/rose_core.zip";
  const python = await load(out, COMPACT);
  python.FS.writeFile("/tmp/core.whl", await readFile(wheel));
  python.runPython(COMPILER);
  python.globals.set("wheel", "/tmp/core.whl");
  python.globals.set("where", where);
  python.runPython(CORE);
  const archive = python.FS.readFile("/tmp/out.zip");
  await write(out, "rose_core.zip", archive);

  const fresh = await load(out);
  fresh.FS.writeFile(where, archive);
  fresh.globals.set("where", where);
  const version = fresh.runPython(TRIAL);
  if (!basename(wheel).startsWith(`rose_core-${version}-`))
    throw new Error(`${basename(wheel)} calls itself ${version}`);
  const names = python.runPython(`" ".join(sorted(files))`).split(" ");
  const { memory, places } = await alike(() =>
    snapshot(out, archive, where, names),
  );
  const { pack, resumed } = await source("core/snapshot.ts");
  const module = await readFile(join(out, "pyodide.asm.wasm"));
  const packed = pack(memory, module, places);
  if (!WebAssembly.validate(packed))
    throw new Error("the snapshot is no module of WebAssembly");
  const restored = await load(out, (create) => {
    const { _restore, ...options } = resumed(packed, create);
    const checked = (heap) => {
      _restore(heap);
      if (Buffer.compare(heap, memory.subarray(-heap.length)))
        throw new Error("the memory does not come back as it was");
    };
    return { ...options, _restore: checked };
  });
  if (restored.runPython("import rose_core; rose_core.__version__") !== version)
    throw new Error("the snapshot does not restore");
  await write(out, "rose_core.snapshot.wasm", packed);
  const sizes = [archive, packed].map((bytes) => kB(gzipSync(bytes).length));
  return `${sizes[0]} gzipped, imported in a fresh runtime; its memory ${sizes[1]}`;
}

/** Do something while no time goes by and nothing is left to chance: readers keep a memory that comes out the same. */
async function alike(action) {
  const { randomFillSync } = crypto;
  const clocks = [Date, performance];
  const reads = clocks.map(({ now }) => now);
  crypto.randomFillSync = (view) => view.fill(0);
  for (const clock of clocks) clock.now = () => 0;
  try {
    return await action();
  } finally {
    crypto.randomFillSync = randomFillSync;
    clocks.forEach((clock, k) => (clock.now = reads[k]));
  }
}

/** A memory with the core in it, and all that it imports later; and what is where in it. */
async function snapshot(out, archive, where, names) {
  let done;
  const python = await load(out, (create) => ({
    createPyodideModule: (module) => {
      module.thisProgram = "python"; // not where it lies here
      module.onRuntimeInitialized = () => {
        done = zeroed(module);
      };
      return create(module);
    },
    _makeSnapshot: true,
    // Hashes that can be computed again need not be kept.
    env: { HOME: "/home", PYTHONHASHSEED: "0" },
  }));
  python.FS.writeFile(where, archive);
  const modules = names.map((name) =>
    name.replace(/(\/__init__)?\.py$/, "").replaceAll("/", "."),
  );
  const object = python.runPython(
    SNAPSHOT.replace("WHERE", where).replace("MODULES", modules.join(" ")),
  );
  done();
  const list = ordered(python._module, object);
  const { HEAPU8, stackSave, _emscripten_stack_get_end } = python._module;
  HEAPU8.fill(0, _emscripten_stack_get_end(), stackSave());
  return {
    memory: new Uint8Array(python.makeMemorySnapshot()),
    places: { str: python._module._PyUnicode_Type, list },
  };
}

async function modules() {
  const python = await load(PYODIDE);
  python.globals.set("stdlib", stdlibPath(python));
  return python.runPython(`
import sys
origins = {n: m.__spec__ and m.__spec__.origin or "" for n, m in sys.modules.items()}
" ".join(sorted(n for n, origin in origins.items() if origin.startswith(stdlib)))
`);
}

const stdlibPath = (python) =>
  python.runPython(
    `import sys; next(p for p in sys.path if p.endswith(".zip"))`,
  );

/** A script of Pyodide's with replacements, each of which must apply. */
async function edited(name, edits) {
  let text = await readFile(join(PYODIDE, name), "utf8");
  for (const [from, to] of edits) {
    const replaced = text.replace(from, to);
    if (replaced === text) throw new Error(`${name} has no ${from} any more`);
    text = replaced;
  }
  return text;
}

/** What asks Pyodide's module for things by name. */
async function askers() {
  const ours = ["memory.mjs", "runtime.mjs"].map((name) => join(HERE, name));
  const files = [join(PYODIDE, "pyodide.mjs"), ...ours];
  return (
    await Promise.all(files.map((file) => readFile(file, "utf8")))
  ).join();
}

/** A script with short names where nothing that it evaluates can mean these: of Pyodide's, a tenth less to load. */
const smaller = async (text) =>
  (await transform(text, { minify: true, legalComments: "inline" })).code;

const write = (out, name, data) => writeFile(join(out, name), data);

const kB = (bytes) => `${(bytes / 1000).toFixed(1)} kB`;

try {
  console.log(await main(...process.argv.slice(2)));
} catch (error) {
  // Its stack would begin with the line of code, and Pyodide's are a megabyte long.
  console.error(error.message ?? error);
  process.exit(1);
}
