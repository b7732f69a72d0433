import type { Occasion } from '../say/prose.ts';

export function valueFor(_schema: unknown, _occasion: Occasion, _seed: string): unknown {
  return {};
}
