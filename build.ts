/**
 * Writes `dist/`: `npm run build`, behind `tsc`, whose declarations become one file. The sources are joined into few files, because opening and
 * compiling several hundred modules is most of what a short command would take. Packages stay outside, as they are installed;
 * only `yaml`, which nearly every command needs and which is seventy files, and `pino`, which every run does, are one file here too.
 *
 * The page of results is built for browsers, into `dist/page/`: one classic script with all it needs, because browsers load no modules
 * from a disk, and one file of styles.
 */
import { copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { env } from 'node:process';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild';
import { build as buildPage } from 'vite';
import { joinedDeclarations } from './declarations.ts';
import { acceptsText } from './schemas/accepts-text.ts';

const require = createRequire(import.meta.url);
const root = fileURLToPath(new URL('.', import.meta.url));
const dist = join(root, 'dist');

/**
 * Packages that are loaded as CommonJS: as modules, some would be searched in all their files for what they export, and others are
 * a dozen files in place of one.
 */
const searched = new Set([
  'ajv/dist/2020.js',
  'csv-parse/sync',
  'csv-stringify/sync',
  'liquidjs',
  'lossless-json',
  'fastest-levenshtein',
  'ipaddr.js',
  'picocolors',
  'pino',
  'undici',
  'yaml',
]);

/**
 * Packages of which parts are loaded instead of all: what is never used would be a good part of what a run takes before its first
 * request. By the name of an export, the file that is it. A release of the package that has its
 * parts elsewhere is loaded as a whole.
 */
const inParts: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  undici: {
    Agent: 'undici/lib/dispatcher/agent.js',
    Dispatcher: 'undici/lib/dispatcher/dispatcher.js',
    Pool: 'undici/lib/dispatcher/pool.js',
  },
};

/** Packages that are one file of `dist/`, by their name. Every file that loads them is as deep as the chunks are. */
const inOneFile = new Set(['pino', 'yaml']);

/** The license of a package: it asks to go along with what is copied from it. */
async function licenseOf(name: string): Promise<string> {
  const folder = join(root, 'node_modules', name);
  const file = (await readdir(folder)).find((entry) => /^licen[cs]e(?:\.|$)/i.test(entry));
  if (file === undefined) throw new Error(`The package ${name} has no license that could go along with it.`);
  return `${name}\n\n${(await readFile(join(folder, file), 'utf8')).trim()}`;
}

/** The packages whose files a build has read. */
const packagesReadBy = ({ inputs }: Metafile): readonly string[] => [
  ...new Set(
    Object.keys(inputs).flatMap((path) => /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []),
  ),
];

/** An expression for what a package exports, or for the parts of it. */
function loadedText(path: string): string {
  if (inOneFile.has(path)) return `require('../packages/${path}.cjs')`;
  const parts = inParts[path];
  const whole = `require(${JSON.stringify(path)})`;
  if (parts === undefined) return whole;
  const members = Object.entries(parts).map(([name, file]) => `${name}: require(${JSON.stringify(file)})`);
  return `(() => {
    try { return { ${members.join(', ')} }; }
    catch (error) {
      if (error?.code === 'MODULE_NOT_FOUND' || error?.code === 'ERR_PACKAGE_PATH_NOT_EXPORTED') return ${whole};
      throw error;
    }
  })()`;
}

const commonJs: Plugin = {
  name: 'commonjs',
  setup(builder) {
    const namespace = 'commonjs';
    builder.onResolve({ filter: /^[a-z]/ }, ({ path }) =>
      searched.has(path) ? { path, namespace } : undefined,
    );
    builder.onLoad({ filter: /./, namespace }, ({ path }) => {
      const names = Object.keys(inParts[path] ?? (require(path) as object)).filter(
        (name) => /^[A-Za-z_$][\w$]*$/.test(name) && name !== 'default',
      );
      const contents = `
        import { createRequire } from 'node:module';
        const require = createRequire(import.meta.url);
        const loaded = ${loadedText(path)};
        export const { ${names.join(', ')} } = loaded;
        export default loaded;`;
      return { contents };
    });
  },
};

const compiledSchema: Plugin = {
  name: 'compiled schema',
  setup(builder) {
    builder.onLoad({ filter: /\/src\/pipeline\/schema\/accepts\.ts$/ }, () => ({ contents: acceptsText() }));
  },
};

const common = {
  absWorkingDir: root,
  entryPoints: ['src/cli/main.ts', 'src/index.ts', 'src/sandbox/draw/thread.ts'],
  outdir: dist,
  outbase: 'src',
  // As deep as the sources are that look for files of the package.
  chunkNames: 'chunks/[name]-[hash]',
  bundle: true,
  splitting: true,
  write: false,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  packages: 'external',
  // Shorter to read, and with lines that a stack can name.
  minifyWhitespace: true,
  lineLimit: 160,
  logLevel: 'warning',
} satisfies BuildOptions;

/**
 * Commands by which files are grouped. esbuild makes a chunk of the files that exactly the same entries load, and everything that is
 * imported when it is needed is an entry: one command would open a hundred chunks, which takes longer than to compile what it
 * does not use.
 */
const grouping = ['main', 'commands/validate', 'commands/plan'].map((name) => `src/cli/${name}.ts`);

interface Groups {
  readonly files: readonly (readonly string[])[];
  /** The groups of which an entry loads anything, by its path. */
  readonly ofEntry: ReadonlyMap<string, readonly number[]>;
}

/**
 * The shared files, by the first command of {@link grouping} that loads them. What small entries load too is apart, so that they stay
 * small. A group loads no package that commands of its kind do without.
 */
function groupsOf({ inputs, outputs }: Metafile): Groups {
  const loadedBy = (entry: string): ReadonlySet<string> => {
    const found = new Set([entry]);
    for (const file of found)
      for (const { path, kind, external } of inputs[file]?.imports ?? [])
        if (kind !== 'dynamic-import' && external !== true) found.add(path);
    return found;
  };
  const packagesOf = (files: Iterable<string>): ReadonlySet<string> =>
    new Set(
      [...files].flatMap((file) =>
        (inputs[file]?.imports ?? [])
          .filter(({ path, kind }) => kind !== 'dynamic-import' && !/^(?:src\/|node:)/.test(path))
          .map(({ path }) => path),
      ),
    );
  const entries = Object.values(outputs).flatMap(({ entryPoint }) => entryPoint ?? []);
  const loads = new Map(entries.map((entry) => [entry, loadedBy(entry)]));
  const measures = grouping.map((name) => loads.get(name) ?? new Set<string>());
  const reading = measures[1] ?? new Set<string>();
  const small = [...loads.values()].filter(
    (files) => !measures.includes(files) && files.size < reading.size / 2,
  );
  const read = packagesOf(reading);
  const commands = [...loads].filter(([entry]) => entry.startsWith('src/cli/commands/'));
  const everywhere = [...read].filter((name) => commands.every(([, files]) => packagesOf(files).has(name)));
  const groups = new Map<string, string[]>();
  for (const file of Object.keys(inputs)) {
    if (!file.startsWith('src/') || common.entryPoints.includes(file)) continue;
    const first = measures.findIndex((files) => files.has(file));
    if (first < 0 || [...loads.values()].filter((files) => files.has(file)).length < 2) continue;
    const isSmall = first > 0 && small.some((files) => files.has(file));
    const usual = isSmall ? everywhere : [...read];
    if ([...packagesOf(loadedBy(file))].some((name) => !usual.includes(name))) continue;
    const key = `${first} ${isSmall}`;
    groups.set(key, [...(groups.get(key) ?? []), file]);
  }
  const files = [...groups.values()];
  const ofEntry = [...loads].map(([entry, loaded]): [string, readonly number[]] => [
    entry,
    files.flatMap((group, number) => (group.some((file) => loaded.has(file)) ? [number] : [])),
  ]);
  return { files, ofEntry: new Map(ofEntry) };
}

/**
 * Makes a chunk of each group: every entry that loads one of its files imports all of them. esbuild leaves these imports out of what
 * it writes, because the sources have no side effects, but goes by them where it looks for what the same entries load.
 */
function grouped({ files, ofEntry }: Groups): Plugin {
  const importsOf = (path: string): string =>
    (ofEntry.get(relative(root, path)) ?? []).map((number) => `\nimport 'group:${number}';`).join('');
  return {
    name: 'groups',
    setup(builder) {
      builder.onResolve({ filter: /^group:/ }, ({ path }) => ({ path, namespace: 'group' }));
      builder.onLoad({ filter: /./, namespace: 'group' }, ({ path }) => ({
        contents: (files[Number(path.slice('group:'.length))] ?? [])
          .map((file) => `import ${JSON.stringify(join(root, file))};`)
          .join('\n'),
        resolveDir: root,
      }));
      // Such a file may be in a group itself: the imports of groups would be a circle there.
      builder.onResolve({ filter: /^\./ }, async ({ path, kind, importer, resolveDir, pluginData }) => {
        if (kind !== 'dynamic-import' || pluginData === 'found') return undefined;
        const found = await builder.resolve(path, { kind, importer, resolveDir, pluginData: 'found' });
        // Names of chunks are made of such paths: they are the same from every folder.
        return found.errors.length > 0 ? found : { path: relative(root, found.path), namespace: 'entry' };
      });
      builder.onLoad({ filter: /./, namespace: 'entry' }, ({ path }) => {
        const file = join(root, path);
        return {
          contents: `export * from ${JSON.stringify(file)};${importsOf(file)}`,
          resolveDir: dirname(file),
        };
      });
      builder.onLoad({ filter: /\.ts$/, namespace: 'file' }, async ({ path }) =>
        common.entryPoints.includes(relative(root, path))
          ? { contents: `${await readFile(path, 'utf8')}${importsOf(path)}`, loader: 'ts' }
          : undefined,
      );
    },
  };
}

const { metafile } = await build({ ...common, metafile: true, plugins: [commonJs, compiledSchema] });
const { outputFiles } = await build({
  ...common,
  plugins: [commonJs, compiledSchema, grouped(groupsOf(metafile))],
  logOverride: { 'ignored-bare-import': 'silent' },
});
/** The files of {@link inOneFile}, with the licenses of all that is in them. */
const packages: { readonly path: string; readonly contents: string }[] = [];
for (const name of inOneFile) {
  const path = join(dist, 'packages', `${name}.cjs`);
  const { outputFiles: written, metafile: read } = await build({
    absWorkingDir: root,
    entryPoints: [require.resolve(name)],
    outfile: path,
    bundle: true,
    write: false,
    metafile: true,
    format: 'cjs',
    platform: 'node',
    target: common.target,
    minifyWhitespace: true,
    lineLimit: 160,
    logLevel: 'warning',
  });
  const licenses = await Promise.all(packagesReadBy(read).map(licenseOf));
  for (const { text } of written)
    packages.push({ path, contents: `/*!\n${licenses.join('\n\n')}\n*/\n${text}` });
}
const declarations = {
  path: join(dist, 'index.d.ts'),
  contents: joinedDeclarations(join(root, 'node_modules/.cache/declarations/index.d.ts')),
};
const files = [...outputFiles, ...packages, declarations];
for (const { path, contents } of files) {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, contents);
}
const written = new Set(files.map(({ path }) => path));

const page = join(root, 'src/report/page');
// Vite goes by it: a build that a test begins would differ from others.
env['NODE_ENV'] = 'production';
const bundled = ['preact', '@tanstack/virtual-core', 'uplot'];
const licenses = await Promise.all(bundled.map(licenseOf));
await buildPage({
  configFile: false,
  root: page,
  logLevel: 'warn',
  publicDir: false,
  build: {
    outDir: join(dist, 'page'),
    emptyOutDir: true,
    target: ['chrome111', 'firefox113', 'safari16.4'],
    cssCodeSplit: false,
    modulePreload: false,
    reportCompressedSize: false,
    rolldownOptions: {
      input: join(page, 'main.tsx'),
      output: {
        format: 'iife',
        entryFileNames: 'page.js',
        assetFileNames: 'page[extname]',
        postBanner: `/*! The page of results of promptpress, with these packages:\n\n${licenses.join('\n\n')}\n*/`,
      },
    },
  },
});
await copyFile(join(page, 'index.html'), join(dist, 'page', 'index.html'));
await copyFile(join(page, 'style/icon.svg'), join(dist, 'page', 'icon.svg'));
for (const name of ['page.js', 'page.css']) written.add(join(dist, 'page', name));

for (const entry of await readdir(dist, { recursive: true, withFileTypes: true })) {
  const path = join(entry.parentPath, entry.name);
  if (/\.(?:c?js|d\.ts)$/.test(path) && !written.has(path)) await rm(path);
}
