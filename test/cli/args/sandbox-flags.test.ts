import { expect, it, test } from 'vitest';
import { type Flag, readArguments } from '../../../src/cli/args/flags.ts';
import { flagSettings, settingFlags } from '../../../src/cli/args/sandbox-flags.ts';
import { completeSettings, defaultSettings } from '../../../src/sandbox/settings.ts';

/** The settings that differ from those of a sandbox without flags. */
function changed(...args: readonly string[]): object {
  const settings = completeSettings(flagSettings(readArguments(settingFlags, args).flags));
  const usual: Readonly<Record<string, unknown>> = { ...defaultSettings };
  return Object.fromEntries(
    Object.entries(settings).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(usual[name])),
  );
}

it('without flags it is the sandbox that a program starts', () => {
  expect(changed()).toEqual({});
});

const flags: readonly (readonly [string, Flag<unknown>])[] = Object.entries(settingFlags);
const switches = flags.flatMap(([name, { placeholder }]) => (placeholder === undefined ? [name] : []));

/** `--no-previews` → `previews: false`, `--two-rows` → `twoRows: true`. */
test.each(switches)('--%s is the setting of its name, and nothing else', (flag) => {
  const isOff = flag.startsWith('no-');
  const setting = (isOff ? flag.slice(3) : flag).replaceAll(/-([a-z])/g, (_, letter: string) =>
    letter.toUpperCase(),
  );
  expect(changed(`--${flag}`)).toEqual({ [setting]: !isOff });
});

test.each([
  ['--link-lists=only-texts', { linkLists: 'only-texts' }],
  ['--modal-code=1', { modalCode: 1 }],
  ['--modal-life=1h', { modalLife: 3_600_000 }],
  ['--queue-full-code=9', { queueFullCode: 9 }],
])('%s', (flag, setting) => {
  expect(changed(flag)).toEqual(setting);
});
