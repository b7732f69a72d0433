/** Whether a key goes into a field, or a player, and means nothing to the page. */
export function typing({ target }: Event): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return !['checkbox', 'radio', 'button'].includes(target.type);
  return ['TEXTAREA', 'SELECT', 'VIDEO'].includes(target.tagName) || target.isContentEditable;
}

/** Whether a key comes with another one that makes it the browser's or the system's. */
export const withModifier = ({ altKey, ctrlKey, metaKey }: KeyboardEvent): boolean =>
  altKey || ctrlKey || metaKey;
