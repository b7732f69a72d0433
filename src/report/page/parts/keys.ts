/** Whether a key event belongs to an input field or a player, so that the page ignores it. */
export function typing({ target }: Event): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return !['checkbox', 'radio', 'button'].includes(target.type);
  return ['TEXTAREA', 'SELECT', 'VIDEO'].includes(target.tagName) || target.isContentEditable;
}

/** Whether a key is pressed with a modifier, as in shortcuts of the browser or the system. */
export const withModifier = ({ altKey, ctrlKey, metaKey }: KeyboardEvent): boolean =>
  altKey || ctrlKey || metaKey;
