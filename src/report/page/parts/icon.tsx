import type { JSX } from 'preact';

/** Paths of the icons, drawn on a square of 16 units. */
const paths = {
  search: 'M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10Zm3.6-1.4L14 14',
  close: 'M3.5 3.5l9 9m0-9l-9 9',
  filter: 'M2 4h12M4.5 8h7M7 12h2',
  keep: 'M3 8.5l3.5 3.5L13 4.5',
  reject: 'M4 4l8 8m0-8l-8 8',
  left: 'M10 3L5 8l5 5',
  right: 'M6 3l5 5-5 5',
  copy: 'M5.5 5.5v-3h8v8h-3m-8-5h8v8h-8Z',
  plus: 'M8 3v10M3 8h10',
  minus: 'M3 8h10',
  fit: 'M2.5 6v-3.5H6M10 2.5h3.5V6m0 4v3.5H10M6 13.5H2.5V10',
  play: 'M5 3l8 5-8 5Z',
  alert: 'M8 2l6.5 11.5h-13ZM8 6.5v3.2m0 1.6v.6',
  clock: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12Zm0-9v3.2l2.2 1.4',
  open: 'M9 2.5h4.5V7M13.5 2.5l-6 6M11 9v4.5H2.5V5H7',
  file: 'M4 1.5h5l3.5 3.5v9.5H4ZM9 1.5V5h3.5',
  download: 'M8 2v8m-3.5-3L8 10.5 11.5 7M2.5 13.5h11',
} as const;

interface IconProps {
  readonly of: keyof typeof paths;
}

/** An icon beside a label. Screen readers skip it. */
export const Icon = ({ of }: IconProps): JSX.Element => (
  <svg class="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
    <path d={paths[of]} />
  </svg>
);

interface IconButtonProps extends IconProps {
  readonly name: string;
  readonly disabled?: boolean;
  readonly onClick: () => void;
}

/** A square button that shows only an icon. */
export const IconButton = ({ of, name, disabled = false, onClick }: IconButtonProps): JSX.Element => (
  <button type="button" class="quiet square" aria-label={name} disabled={disabled} onClick={onClick}>
    <Icon of={of} />
  </button>
);
