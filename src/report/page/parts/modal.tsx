import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

interface ModalProps {
  readonly name: string;
  readonly kind: 'result' | 'compare' | 'drawer';
  readonly onClose: () => void;
  readonly onKeyDown?: (event: KeyboardEvent) => void;
  readonly children: ComponentChildren;
}

/** A modal dialog. The browser keeps the focus in it, closes it with Escape and then restores the focus. */
export function Modal({ name, kind, onClose, onKeyDown, children }: ModalProps): JSX.Element {
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
      {children}
    </dialog>
  );
}
