import { parseFault } from '../../src/sandbox/faults/parse.ts';
import type { SandboxSettings } from '../../src/sandbox/settings.ts';
import { type Client, start } from './client.ts';

/** A sandbox with these settings, struck by these faults; every task of a kind works as long as the next. */
export async function struck(
  settings: Partial<SandboxSettings> = {},
  ...faults: readonly string[]
): Promise<Client> {
  const read = faults.map((text) => {
    const parsed = parseFault(text);
    if (!parsed.ok) throw new Error(parsed.error);
    return parsed.value;
  });
  return await start({ settings: { spread: 0, ...settings, faults: read } });
}
