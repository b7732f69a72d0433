import { afterAll, beforeAll } from 'vitest';
import { defaultSettings, type SandboxSettings } from '../../src/sandbox/settings.ts';

/**
 * The sandboxes that this process starts in a file of tests draw small pictures, and at once, where nobody says otherwise: to draw
 * is most of what a rehearsal costs, and to wait most of how long it takes.
 */
export function useQuickSandbox({ pixels = 64, pace = 0 }: Partial<SandboxSettings> = {}): void {
  const before = { ...defaultSettings };
  beforeAll(() => {
    Object.assign(defaultSettings, { pixels, pace });
  });
  afterAll(() => {
    Object.assign(defaultSettings, before);
  });
}
