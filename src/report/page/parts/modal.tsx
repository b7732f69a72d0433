import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { IconButton } from './icon.tsx';

interface ModalProps {
  readonly name: string;
  readonly kind: 'result' | 'compare' | 'drawer';
  /** Default: the name. */
  readonly title?: ComponentChildren;
  /** Buttons before the one that closes the dialog. */
  readonly tools?: ComponentChildren;
  readonly onClose: () => void;
  readonly onKeyDown?: (event: KeyboardEvent) => void;
  readonly children: ComponentChildren;
}

/** A modal dialog. The browser keeps the focus in it, closes it with Escape and then restores the focus. */
export function Modal(props: ModalProps): JSX.Element {
  const { name, kind, title = name, tools, onClose, onKeyDown, children } = props;
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const shown = dialog.current;
    shown?.showModal();
    // Focuses the dialog and not its first button, which would look selected and react to the space bar.
    shown?.focus();
    return () => shown?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      class={`modal ${kind}`}
      aria-label={name}
      tabIndex={-1}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => {
        if (event.target === dialog.current) onClose();
      }}
      onKeyDown={(event) => {
        // Some browsers send no `cancel` event for a second Escape.
        if (event.key === 'Escape') {
          event.preventDefault();
          event.stopPropagation();
          onClose();
        } else onKeyDown?.(event);
      }}
    >
      <div class="dialog-head line spread">
        <h2>{title}</h2>
        <div class="tools line">
          {tools}
          <IconButton of="close" name="Close" onClick={onClose} />
        </div>
      </div>
      {children}
    </dialog>
  );
}
