import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const read = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8'));

interface Locked {
  readonly name?: string;
  readonly resolved?: string;
  readonly hasInstallScript?: boolean;
}

it('npm is told of each package with an install script that it is not to run: npm ci warns of none', () => {
  const { packages } = read('package-lock.json') as { readonly packages: Readonly<Record<string, Locked>> };
  const { allowScripts } = read('package.json') as {
    readonly allowScripts: Readonly<Record<string, boolean>>;
  };
  const scripted = Object.entries(packages)
    .filter(([, { hasInstallScript }]) => hasInstallScript === true)
    .map(
      ([path, { name }]) => name ?? path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length),
    );
  expect(scripted.length).toBeGreaterThan(0);
  expect(allowScripts).toEqual(Object.fromEntries(scripted.map((name) => [name, false])));
});
