import { nearest } from '../../../pipeline/diagnostics/did-you-mean.ts';
import { needsUpscale } from '../../../pipeline/selectors/button-stage.ts';
import {
  buttonName,
  type Found,
  isChange,
  mayTakeMask,
  offered,
  whyNoTask,
} from '../../../plan/button-match.ts';
import type { Button, JobError } from '../../../plan/job.ts';
import type { ClickRequest, Press } from '../../../plan/job-request.ts';
import type { Task } from '../../../service/image-service.ts';

/**
 * Returns why no button of a task was pressed: `button.missing`, with the button that was probably meant or the button to press first, or
 * `button.ambiguous`, with a way to name one.
 */
export function buttonError(
  press: readonly Press[],
  found: Exclude<Found, { readonly kind: 'one' }>,
  { buttons, buttonless }: Pick<Task, 'buttons' | 'buttonless'>,
): JobError {
  const asked = press.map((one) => `"${written(one)}"`).join(' or ');
  if (found.kind === 'none' && buttonless !== undefined) {
    const what =
      buttonless === 'grid'
        ? 'only U1 to U4, V1 to V4 and reroll can be pressed here'
        : 'nothing can be pressed here';
    return {
      code: 'button.missing',
      message: `This gateway does not show the buttons of its tasks, so clicks use submit/change, and ${what}: ${asked} cannot. If it supports submit/action all the same, write service.clicks: action.`,
    };
  }
  if (found.kind === 'none') {
    const hint = missingHint(press, buttons);
    const message = `The task offers no button ${asked}. It offers: ${offered(buttons)}.`;
    return { code: 'button.missing', message: hint === undefined ? message : `${message} ${hint}` };
  }
  const isPattern = press.some(({ kind }) => kind === 'pattern');
  const way = isPattern ? narrowPattern(found.buttons) : nameOne(found.buttons);
  return {
    code: 'button.ambiguous',
    message: `${asked} matches several buttons: ${offered(found.buttons)}. ${way}`,
  };
}

/**
 * Returns why an offered button cannot be pressed for this request: `button.no-task`, `button.not-offered` or `mask.unused`; undefined
 * where it can.
 */
export function pressError(button: Button, { mask, fields }: ClickRequest): JobError | undefined {
  const why = whyNoTask(button);
  if (isChange(button) && (fields['remix'] === true || fields['prompt'] !== undefined))
    return {
      code: 'button.not-offered',
      message: `This gateway does not show the buttons of its tasks, so clicks use submit/change, which takes no prompt and no remix: ${offered([button])} was not pressed.`,
    };
  if (why !== undefined)
    return { code: 'button.no-task', message: `The button ${offered([button])} ${why}.` };
  if (mask === undefined || mayTakeMask(button)) return undefined;
  return {
    code: 'mask.unused',
    message: `The button ${offered([button])} takes no mask, but one is given. It was not pressed. Remove the mask, or name the button that takes one: Vary (Region).`,
  };
}

function written(press: Press): string {
  switch (press.kind) {
    case 'word':
      return press.word;
    case 'text':
      return press.text;
    case 'pattern':
      return `/${press.source}/`;
  }
}

/** Advice for several matches: equal labels cannot name one button. */
const nameOne = (buttons: readonly Button[]): string =>
  new Set(buttons.map(({ label }) => label.trim())).size === buttons.length
    ? 'Name one by its label, or fan out with a wildcard.'
    : 'Only patterns of their ids distinguish them (/…/).';

/** A pattern must not match several buttons: its literal stars are escaped. */
function narrowPattern(buttons: readonly Button[]): string {
  const glob = commonGlob(buttons);
  return `A pattern presses one button: narrow it${
    glob === undefined ? '' : `, or fan out by label with a wildcard (${glob})`
  }.`;
}

/** A wildcard that matches the labels of all buttons; a button without a label matches none. */
function commonGlob(buttons: readonly Button[]): string | undefined {
  const [first = '', ...others] = buttons.map((button) =>
    button.label.trim() === '' ? '' : buttonName(button),
  );
  let length = others.includes(first) ? 0 : first.length;
  while (length > 0 && !others.every((label) => label.startsWith(first.slice(0, length)))) length -= 1;
  const [start = ''] = /^[^]*\p{L}/u.exec(first.slice(0, length)) ?? [];
  return /^[\p{L}\p{N} ()-]+$/u.test(start) ? `${start}*` : undefined;
}

function missingHint(press: readonly Press[], buttons: readonly Button[]): string | undefined {
  const names = buttons.map(buttonName);
  for (const { kind, ...rest } of press) {
    const near = kind === 'text' && 'text' in rest ? nearName(rest.text, names) : undefined;
    if (near !== undefined) return `Did you mean "${near}"?`;
  }
  const isGrid = names.includes('U1') && names.includes('U2');
  if (!isGrid || !press.some(needsUpscale)) return undefined;
  return 'This is a grid: upscale one of its images first (U1), and press it there.';
}

const digits = (text: string): string => text.replaceAll(/\D+/g, ' ').trim();

/** The nearest name with the same digits: U5 does not mean U1, nor 1.5x 2x. */
const nearName = (text: string, names: readonly string[]): string | undefined =>
  nearest(
    text.trim(),
    names.filter((name) => digits(name) === digits(text)),
  );
