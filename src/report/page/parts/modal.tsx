import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

interface ModalProps {
  readonly name: string;
  readonly kind: 'result' | 'compare' | 'drawer';
  readonly onClose: () => void;
  readonly onKeyDown?: (event: KeyboardEvent) => void;
  readonly children: ComponentChildren;
}

/** A dialog above the page: the browser keeps the focus in it, closes it with Escape and gives the focus back. */
export function Modal({ name, kind, onClose, onKeyDown, children }: ModalProps): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const shown = dialog.current;
    shown?.showModal();
    // Not its first button, which would look chosen, and be what a blank presses.
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
        // Escape also where a browser sends no `cancel` the second time.
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
