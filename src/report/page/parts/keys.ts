import type { PageResult } from '../../results/wire.ts';
import { select } from '../state/address.ts';
import type { App } from '../state/app.ts';

/** Whether the page ignores a key: it goes to an input field or a player, or is a shortcut of the browser or the system. */
export function isForOthers({ target, altKey, ctrlKey, metaKey }: KeyboardEvent): boolean {
  if (altKey || ctrlKey || metaKey) return true;
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return !['checkbox', 'radio', 'button'].includes(target.type);
  return ['TEXTAREA', 'SELECT', 'VIDEO'].includes(target.tagName) || target.isContentEditable;
}

/** Marks or selects a result by `k`, `x` or `s`. @returns false for other keys */
export function actOn({ job, at }: PageResult, key: string, { flip, selected }: App): boolean {
  const mark = ({ k: 'keep', x: 'reject' } as const)[key];
  if (mark && job) flip(job, mark);
  else if (key === 's') selected.set(select(selected.value, at));
  else return false;
  return true;
}
