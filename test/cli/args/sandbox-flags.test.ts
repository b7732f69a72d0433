import { isDeepStrictEqual } from 'node:util';
import { expect, it, test } from 'vitest';
import { type Flag, readArguments } from '../../../src/cli/args/flags.ts';
import { flagSettings, settingFlags } from '../../../src/cli/args/sandbox-flags.ts';
import { quirkNames, quirkWords } from '../../../src/sandbox/quirks.ts';
import { completeSettings, defaultSettings } from '../../../src/sandbox/settings.ts';
import { promptpress } from '../test-io.ts';

/** The settings that differ from those of a sandbox without flags. */
function changed(...args: readonly string[]): object {
  const settings = completeSettings(flagSettings(readArguments(settingFlags, args).flags));
  const usual: Readonly<Record<string, unknown>> = { ...defaultSettings };
  return Object.fromEntries(
    Object.entries(settings).filter(([name, value]) => !isDeepStrictEqual(value, usual[name])),
  );
}

it('without flags the sandbox is the one that a program starts', () => {
  expect(changed()).toEqual({});
});

const flags: readonly (readonly [string, Flag<unknown>])[] = Object.entries(settingFlags);
const switches = flags.flatMap(([name, { placeholder }]) => (placeholder === undefined ? [name] : []));

it('takes quirks by their names, each once', () => {
  expect(switches).toEqual(['any-model']);
  for (const name of quirkNames) expect(changed('--quirk', name)).toEqual({ quirks: new Set([name]) });
  expect(changed(...quirkNames.flatMap((name) => [`--quirk=${name}`, `--quirk=${name}`]))).toEqual({
    quirks: new Set(quirkNames),
  });
});

it('lists the quirks, and suggests the nearest for an unknown one', async () => {
  const { code, err } = await promptpress(['sandbox', '--quirk', 'bare-idz'], { cwd: '/' });
  expect(code).toBe(2);
  for (const name of quirkNames) expect(err).toContain(name);
  expect(err).toContain('Did you mean bare-ids?');
  expect((await promptpress(['sandbox', '--bare-ids'], { cwd: '/' })).code).toBe(2);
  const help = (await promptpress(['help', 'sandbox'], { cwd: '/' })).out.replaceAll(/\s+/g, ' ');
  for (const name of quirkNames) expect(help).toContain(`${name}: ${quirkWords[name]}`);
});

test.each([
  ['--link-lists=only-texts', { linkLists: 'only-texts' }],
  ['--modal-code=1', { modalCode: 1 }],
  ['--modal-life=1h', { modalLife: 3_600_000 }],
  ['--queue-full-code=9', { queueFullCode: 9 }],
])('%s', (flag, setting) => {
  expect(changed(flag)).toEqual(setting);
});
