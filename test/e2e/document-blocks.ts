import { execFile } from 'node:child_process';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { commandFile } from '../rig/cli.ts';
import type { Block, Document } from '../rig/documents.ts';
import { withStateHome } from '../rig/state-home.ts';

/** The code blocks of documents, each of which some test has to take. */
export class DocumentBlocks {
  readonly #blocks: readonly Block[];
  readonly #used = new Set<Block>();

  constructor(documents: readonly Document[]) {
    this.#blocks = documents.flatMap(({ blocks }) => blocks);
  }

  /** The text of the one block of a document whose text has `part` in it. @throws Error for none or several */
  take(document: string, language: string, part: string): string {
    const found = this.#blocks.filter(
      (block) => block.document === document && block.language === language && block.text.includes(part),
    );
    const [block] = found;
    if (block === undefined || found.length > 1) {
      throw new Error(`${document}: ${found.length} blocks of ${language} with ${part}, expected one`);
    }
    this.#used.add(block);
    return block.text;
  }

  /** Takes every block of a language. */
  takeAll(language: string): readonly Block[] {
    const found = this.#blocks.filter((block) => block.language === language);
    for (const block of found) this.#used.add(block);
    return found;
  }

  /** Where the blocks stand that no test has taken. */
  left(): readonly string[] {
    return this.#blocks
      .filter((block) => !this.#used.has(block))
      .map(({ document, line, language }) => `${document}:${line} ${language}`);
  }
}

/** What a script said and how it ended. */
export interface ShellResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs a script as a user would, in `folder`, with the `promptpress` of {@link commandFile} on the path. It ends at the first command that fails.
 *
 * @param stubs commands that the machine may not have, as shell scripts by their names
 */
export async function shell(
  script: string,
  folder: string,
  env: Readonly<Record<string, string>> = {},
  stubs: Readonly<Record<string, string>> = {},
): Promise<ShellResult> {
  const bin = join(folder, '.bin');
  await mkdir(bin, { recursive: true });
  const commands = {
    // A rehearsal in which nothing takes time.
    promptpress: `case " $* " in *" --sandbox "*) set -- "$@" --pace 0 ;; esac
exec '${process.execPath}' '${commandFile}' "$@"`,
    ...stubs,
  };
  for (const [name, body] of Object.entries(commands)) {
    await writeFile(join(bin, name), `#!/bin/sh\n${body}\n`);
    await chmod(join(bin, name), 0o755);
  }
  const path = `${bin}:${process.env['PATH'] ?? ''}`;
  return new Promise((resolve) => {
    execFile(
      'sh',
      ['-e', '-c', script],
      { cwd: folder, env: { PATH: path, HOME: folder, TZ: 'UTC', NO_COLOR: '1', ...withStateHome(env) } },
      (error, stdout, stderr) => resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
  });
}
