import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonLine } from '../../../src/app/output/json-line.ts';
import { Redactor } from '../../../src/app/output/redact.ts';
import { safeIo } from '../../../src/app/output/safe-io.ts';
import { formatDiagnostic } from '../../../src/pipeline/diagnostics/format.ts';
import { promptpress, testIo } from '../../cli/test-io.ts';
import { temporaryFolder } from '../../rig/cli.ts';

/** What a terminal obeys, or what hides the order of what stands there; line ends and tabs apart. */
const obeyed =
  // oxlint-disable-next-line no-control-regex -- control characters are what must not be there
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f\ufeff\ufff9-\ufffb]/u;

// oxlint-disable-next-line no-control-regex -- the escape that a colour begins with
const color = /\u001b\[(?:1|2|22|31|33|39)m/gu;

const hostile = [
  '\u001b[2J',
  '\u001b[8m',
  '\u001b]0;x\u0007',
  '\u009b2J',
  '\u009d0;x\u009c',
  '\u0085',
  '\u007f',
  '\r',
  '\u202e',
  '\u2066',
  '\u206a',
  '\ufff9',
  '\u200f',
  '\u061c',
  '\u2028',
] as const;

const text = fc
  .array(
    fc.oneof(
      fc.constantFrom(...hostile, '\u001b[31m', '\u001b[', '\n', '\t', '👩‍👩‍👧', 'ä'),
      fc.string({ unit: 'binary', maxLength: 3 }),
    ),
  )
  .map((parts) => parts.join(''));

/** What a process is told, on each of its four ways, of one text. */
async function printed(said: string, colors: boolean, redactor = new Redactor()): Promise<readonly string[]> {
  const questions: string[] = [];
  const test = testIo({
    cwd: '/',
    answer: (question) => {
      questions.push(question);
      return undefined;
    },
  });
  const io = safeIo({ ...test.io, colors }, redactor);
  await io.out(said);
  const out = test.out();
  await io.data(said);
  io.err(said);
  await io.ask?.(said);
  return [out, test.out().slice(out.length), test.err(), ...questions];
}

describe('the output of a process', () => {
  it('contains no terminal control characters, whatever a command prints', async () => {
    await fc.assert(
      fc.asyncProperty(text, async (said) => {
        const ways = await printed(said, false);
        expect(ways).toHaveLength(4);
        for (const way of ways) {
          expect(way).not.toMatch(obeyed);
          expect(way.split('\n')).toHaveLength(said.split('\n').length);
        }
      }),
      { seed: 20261122, numRuns: 500 },
    );
  });

  it('contains only the colour sequences of diagnostics, where colours are wanted', async () => {
    await fc.assert(
      fc.asyncProperty(text, async (said) => {
        for (const way of await printed(said, true)) expect(way.replaceAll(color, '')).not.toMatch(obeyed);
      }),
      { seed: 20261122, numRuns: 500 },
    );
    const place = { file: 'a.yaml', line: 1, column: 1, length: 1, sourceLine: 'x: 1' };
    for (const severity of ['error', 'warning'] as const) {
      const painted = formatDiagnostic(
        { ...place, severity, code: 'schema.value', message: 'x', hint: 'y' },
        { color: true },
      );
      expect(painted).toContain('\u001b[1m');
      expect(await printed(painted, true)).toEqual([painted, painted, painted, painted]);
    }
  });

  it('is unchanged if it has no control characters, and always for JSON of one line', async () => {
    const plain = 'a\tb\n  ü 狐 👩‍👩‍👧 🏴󠁧󠁢󠁥󠁮󠁧󠁿 | " \\\n';
    expect(await printed(plain, false)).toEqual([plain, plain, plain, plain]);
    await fc.assert(
      fc.asyncProperty(fc.dictionary(text, text), async (value) => {
        const line = jsonLine(value);
        expect(await printed(line, false)).toEqual([line, line, line, line]);
      }),
      { seed: 20261122, numRuns: 200 },
    );
  });
});

describe('a secret', () => {
  const key = 'sk-0123456789abcdef';
  const team = 'red foxes';
  const redactor = new Redactor();
  redactor.addCredential(key);
  redactor.add(team);

  it('is masked in words and questions; in data, only credentials are', async () => {
    const [out, data, err, question] = await printed(`${key} of ${team}`, false, redactor);
    expect([out, err, question]).toEqual(Array(3).fill('[secret] of [secret]'));
    expect(data).toBe('[secret] of red foxes');
  });

  it('is masked in every frame of a view, and cursor movements are kept', () => {
    const terminal = { columns: () => 80, rows: () => 24, unicode: true };
    const test = testIo({ cwd: '/', terminal });
    safeIo(test.io, redactor).terminal?.draw(`\u001b[1A\r${key} ${team}\u001b[K\n`);
    expect(test.err()).toBe('\u001b[1A\r[secret] [secret]\u001b[K\n');
  });

  it('is masked even if the command learns it after its output was made', async () => {
    const late = new Redactor();
    const test = testIo({ cwd: '/' });
    const io = safeIo(test.io, late);
    late.addCredential(key);
    await io.data(jsonLine({ key }));
    expect(test.out()).toBe('{"key":"[secret]"}\n');
  });
});

describe.each(['\u009b31m', '\u202e', '\u001b[2J'])('names that hold %j', (steering) => {
  const pipeline = `name: foxes
matrix: { animal: ["a${steering.replace('\u001b', '\\e')}b"] }
steps:
  grid:
    imagine: "{{ animal }}"
`;
  const commands = [
    ['validate', 'f.yaml'],
    ['validate', 'broken.yaml'],
    ['validate', 'absent.yaml'],
    ['plan', 'f.yaml'],
    ['plan', 'f.yaml', '--cells'],
    ['plan', 'f.yaml', '--filter', 'x=y'],
    ['run', 'f.yaml', '--sandbox'],
    ['status', 'f.yaml', '--sandbox'],
    ['manifest', 'f.yaml', '--sandbox'],
    ['show', 'zzzz', 'f.yaml', '--sandbox'],
    ['resolve', 'zzzz', 'f.yaml', '--sandbox', '--retry'],
    ['models', 'f.yaml', '--sandbox'],
    ['trust'],
    ['init', 'new'],
    ['unknown'],
  ] as const;

  it('are escaped on the terminal by every command, and in the log', async () => {
    await using root = await temporaryFolder();
    const cwd = join(root.path, `d${steering}`);
    await mkdir(cwd);
    const named = (word: string): string => join(cwd, word.replace('.yaml', `${steering}.yaml`));
    await writeFile(named('f.yaml'), pipeline);
    await writeFile(named('broken.yaml'), `${pipeline}${steering}x: [1\n`);
    const state = join(root.path, 'state/promptpress');
    await mkdir(state, { recursive: true });
    await writeFile(join(state, 'trust.json'), '{"version":1,"trusted":[]}', { mode: 0o600 });
    const env = { HOME: root.path, XDG_STATE_HOME: join(root.path, 'state') };
    for (const [command, ...rest] of commands) {
      const args = rest.map((word) =>
        word.endsWith('.yaml') ? named(word) : word === 'new' ? `${word}${steering}` : word,
      );
      const asked = command === 'unknown' ? `unknown${steering}` : command;
      const { out, err } = await promptpress([asked, ...args], { cwd, env });
      expect(`${command}: ${out}${err}`).not.toMatch(obeyed);
      expect(out + err).not.toBe('');
    }
    const log = await readFile(join(cwd, 'runs/foxes.sandbox/run.log'), 'utf8');
    const record = await readFile(join(cwd, 'runs/foxes.sandbox/run.json'), 'utf8');
    expect(log).toContain('run:end');
    expect(`${log}${record}`).not.toMatch(obeyed);
    expect(JSON.parse(record)).toMatchObject({ pipeline: { file: named('f.yaml') } });
  });
});
