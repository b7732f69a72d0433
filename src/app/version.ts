import { readFileSync } from 'node:fs';
import { versions } from 'node:process';
import { fileURLToPath } from 'node:url';

/** Returns the path of a file of the package; sources and build are both two folders deep. */
export const packageFile = (name: string): string => fileURLToPath(new URL(`../../${name}`, import.meta.url));

/** The version of this package. */
export const version: string = (
  JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as { readonly version: string }
).version;

/** Version of the running Node.js, without a `v`. */
export const nodeVersion: string = versions.node;

/** Advice on reporting bugs. */
export const reportAdvice =
  'This is a bug of promptpress. Please report it with this text, the version and what you did; look through the text for secrets first.';
