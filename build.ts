/**
 * Writes `dist/` beside its type declarations: `npm run build`. The sources are joined into few files, because opening and
 * compiling several hundred modules is most of what a short command would take. Packages stay outside, as they are installed.
 *
 * The page of results is built for browsers, into `dist/page/`: one classic script with all it needs, because browsers load no modules
 * from a disk, and one file of styles.
 */
import { copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { build as buildPage } from 'vite';

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
    EnvHttpProxyAgent: 'undici/lib/dispatcher/env-http-proxy-agent.js',
    Pool: 'undici/lib/dispatcher/pool.js',
    buildConnector: 'undici/lib/core/connect.js',
  },
};

/** An expression for what a package exports, or for the parts of it. */
function loadedText(path: string): string {
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

const { outputFiles } = await build({
  absWorkingDir: root,
  entryPoints: ['src/cli/main.ts', 'src/index.ts'],
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
  plugins: [commonJs],
  logLevel: 'warning',
});
for (const { path, contents } of outputFiles) {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, contents);
}
const written = new Set(outputFiles.map(({ path }) => path));

const page = join(root, 'src/report/page');
const bundled = ['preact', '@tanstack/virtual-core', 'uplot'];
/** The licenses of what is in the script: they ask to go along with it. */
const licenses = await Promise.all(
  bundled.map(async (name) => {
    const license = await readFile(join(root, 'node_modules', name, 'LICENSE'), 'utf8');
    return `${name}\n\n${license.trim()}`;
  }),
);
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
  if (path.endsWith('.js') && !written.has(path)) await rm(path);
}
