/** Zoom and position of all compared pictures, so that each shows the same part. */
export interface View {
  /** Zoom factor; 1 shows the whole picture. */
  readonly scale: number;
  /** Horizontal offset as a share of the pane. */
  readonly x: number;
  readonly y: number;
}

export const whole: View = { scale: 1, x: 0, y: 0 };

const largest = 16;

/** Zooms by a factor. The point at `x`, `y` (shares of the pane from its middle) stays in place. */
export function zoomed(view: View, factor: number, x = 0, y = 0): View {
  const scale = Math.min(largest, Math.max(1, view.scale * factor));
  const by = scale / view.scale;
  return bounded({ scale, x: x - (x - view.x) * by, y: y - (y - view.y) * by });
}

/** Moves the picture by shares of the pane. */
export const panned = (view: View, x: number, y: number): View =>
  bounded({ ...view, x: view.x + x, y: view.y + y });

/** Keeps the picture over its pane. */
function bounded({ scale, x, y }: View): View {
  const most = (scale - 1) / 2;
  const within = (value: number): number => Math.max(-most, Math.min(most, value));
  return { scale, x: within(x), y: within(y) };
}

/** Returns the view after a key press; undefined for keys without an effect. */
export const viewAfterKey = (view: View, key: string): View | undefined =>
  ({
    '+': zoomed(view, 1.5),
    '=': zoomed(view, 1.5),
    '-': zoomed(view, 1 / 1.5),
    '0': whole,
    ArrowLeft: panned(view, 0.1, 0),
    ArrowRight: panned(view, -0.1, 0),
    ArrowUp: panned(view, 0, 0.1),
    ArrowDown: panned(view, 0, -0.1),
  })[key];
