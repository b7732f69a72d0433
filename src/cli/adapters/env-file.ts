import { existsSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { usageError } from '../../app/errors/cli-error.ts';
import { revaluing, without } from '../../app/errors/correction.ts';
import { quoted } from '../../report/text/printable.ts';

/** Largest size of a file of variables, in bytes. */
const maxBytes = 1_048_576;

/**
 * Variables that a file cannot set, because the file may come from a stranger's repository. They decide what is trusted (HOME has the
 * file of trust; proxies and certificates see the key) and which programs run (PATH, variables of git and Node.js).
 */
const decidesTrust =
  /^(?:PROMPTPRESS_TRUSTED_ORIGINS|HOME|USERPROFILE|PATH|XDG_.*|(?:HTTPS?|ALL|NO)_PROXY|NODE_(?!ENV$).*|SSL_CERT_.*|OPENSSL_.*|GIT_.*|LD_.*|DYLD_.*)$/i;

/**
 * Reads a file of variables (`--dotenv`): lines `NAME=VALUE` as Node.js parses them (`util.parseEnv`), with comments, quotes and
 * `export`. A named pipe works too, for a file written by a program: `--dotenv <(…)`. The flag cannot be called `--env-file`, because
 * Node.js handles a flag of that name itself.
 *
 * @param file as the user gave it, relative to the current folder
 * @throws CliError (exit 2) with file and line; the message never shows the content of the file
 */
export async function readEnvFile(file: string, cwd: string): Promise<ReadonlyMap<string, string>> {
  const text = decoded(await readBytes(resolve(cwd, file), file), file);
  const lines = linesOfNames(text, file);
  for (const [name, line] of lines) refuseTrust(name, `${file}:${line}`);
  const values = parseEnv(text);
  const read = new Map<string, string>();
  for (const [name, value] of Object.entries(values)) {
    // Repeated, because Node.js may find a name where the check above found none.
    refuseTrust(name, file);
    if (value !== undefined) read.set(name, value);
  }
  for (const [name, line] of lines) {
    if (read.has(name)) continue;
    throw usageError(`${file}:${line}: the value of ${name} cannot be read.`, 'Write it in single quotes.');
  }
  return read;
}

function refuseTrust(name: string, place: string): void {
  if (!decidesTrust.test(name)) return;
  throw usageError(
    `${place}: ${name} decides what promptpress trusts or runs, so a file may not set it.`,
    'Remove that line. Set the variable in the environment itself, where you want it.',
  );
}

/** Returns the names that a file sets, each with its last line. @throws CliError (exit 2) for a line without a name */
function linesOfNames(text: string, file: string): ReadonlyMap<string, number> {
  const lines = text.split('\n');
  const found = new Map<string, number>();
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at]?.trim() ?? '';
    if (line === '' || line.startsWith('#')) continue;
    const equals = line.indexOf('=');
    const name = line
      .slice(0, Math.max(0, equals))
      .replace(/^export\s/, '')
      .trim();
    const value = line.slice(equals + 1).trim();
    if (!/^[A-Za-z_][\w.-]*$/.test(name))
      throw usageError(
        `${file}:${at + 1} is not NAME=VALUE.`,
        `${wrongLine(line)}A line is NAME=VALUE, for example PROMPTPRESS_API_KEY=…, a comment (#) or empty.`,
      );
    found.set(name, at + 1);
    const [quote = ''] = /^["'`]/.exec(value) ?? [];
    if (quote !== '') at = closingLine(lines, at, { quote, name, value, file });
  }
  return found;
}

/** Describes a malformed line of YAML. A name is shown only if it certainly is one. */
function wrongLine(line: string): string {
  const [, name] = /^(?:export\s)?\s*([A-Z][A-Z0-9]{0,40}_[A-Z0-9_]{1,40})\s*:/.exec(line) ?? [];
  return name === undefined ? '' : `Write ${name}=… with an equals sign in the place of the colon. `;
}

/** Finds the last line of a quoted value. @returns its index @throws CliError (exit 2) */
function closingLine(
  lines: readonly string[],
  from: number,
  { quote, name, value, file }: Readonly<Record<'quote' | 'name' | 'value' | 'file', string>>,
): number {
  let rest = value.slice(1);
  let at = from;
  while (!rest.includes(quote)) {
    at += 1;
    const next = lines[at];
    if (next === undefined)
      throw usageError(
        `${file}:${from + 1}: the value of ${name} begins with ${quote}, which is never closed.`,
      );
    rest = next;
  }
  if (/^\s*(?:#|$)/.test(rest.slice(rest.indexOf(quote) + 1))) return at;
  throw usageError(
    `${file}:${at + 1}: something stands behind the closing ${quote} of ${name}.`,
    'Take another quote for the value: it may be \', " or `.',
  );
}

function decoded(bytes: Uint8Array, file: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes).replaceAll('\r\n', '\n');
  } catch (cause) {
    throw usageError(`${file} is not a text in UTF-8.`, (cause as Error).message);
  }
}

async function readBytes(path: string, file: string): Promise<Uint8Array> {
  try {
    await using handle = await open(path);
    return await readBounded(handle, file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') throw noFile(path, file);
    if (code === 'EISDIR')
      throw usageError(
        `--dotenv: ${file} is a folder.`,
        'Name the file in it.',
        revaluing('--dotenv', file, [join(file, '.env')], 'example'),
      );
    if (code === 'EACCES' || code === 'EPERM')
      throw usageError(
        `--dotenv: ${file} may not be read.`,
        `Let yourself read it: chmod u+r ${quoted(file)}`,
      );
    throw error;
  }
}

/** Returns the error for a missing file. It names a similar file in the same folder, if there is one. */
function noFile(path: string, file: string): Error {
  const beside = join(dirname(file), '.env');
  const isBeside = existsSync(join(dirname(path), '.env')) && beside !== file;
  return usageError(
    `--dotenv: there is no file ${file}.`,
    isBeside
      ? `There is ${beside}.`
      : 'A line of such a file is NAME=VALUE, for example PROMPTPRESS_API_KEY=…; leave --dotenv out if the environment has the variables.',
    isBeside ? revaluing('--dotenv', file, [beside]) : without('--dotenv', true),
  );
}

async function readBounded(handle: FileHandle, file: string): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let length = 0;
  for (;;) {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(65_536), 0, 65_536, null);
    if (bytesRead === 0) return Buffer.concat(chunks);
    chunks.push(buffer.subarray(0, bytesRead));
    length += bytesRead;
    if (length > maxBytes) throw usageError(`--dotenv: ${file} has more than ${maxBytes} bytes.`);
  }
}
