import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Icon } from './icon.tsx';

/** A button that copies a text to the clipboard. `of` names the text: `prompt`. */
export function Copy({ text, of }: { readonly text: string; readonly of: string }): JSX.Element {
  const [said, say] = useState('');
  useEffect(() => {
    if (said === '') return;
    const timer = setTimeout(() => say(''), 2000);
    return () => clearTimeout(timer);
  }, [said]);
  const copy = (): void => {
    copied(text).then(
      () => say('Copied'),
      () => say('Select and copy by hand'),
    );
  };
  return (
    <span class="copy">
      <button type="button" class="quiet" aria-label={`Copy ${of}`} onClick={copy}>
        <Icon of="copy" /> Copy
      </button>
      <span class="hint" role="status">
        {said}
      </span>
    </span>
  );
}

/** Copies a text. The clipboard API exists only on `https:` and 127.0.0.1; from the disk a selection is copied. */
async function copied(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.createElement('textarea');
    area.value = text;
    area.className = 'sr';
    const holder = document.querySelector('dialog[open]') ?? document.body;
    const focused = document.activeElement;
    holder.append(area);
    area.select();
    const done = document.execCommand('copy');
    area.remove();
    if (focused instanceof HTMLElement) focused.focus();
    if (!done) throw new Error('not copied');
  }
}

/** A command line with a button that copies it. */
export const Command = ({ line }: { readonly line: string }): JSX.Element => (
  <div class="command line">
    <code>{line}</code>
    <Copy text={line} of="command" />
  </div>
);
