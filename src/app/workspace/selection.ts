import { nearest } from '../../pipeline/diagnostics/did-you-mean.ts';
import type { Selection } from '../../plan/cell.ts';
import { chosenSteps } from '../../plan/graph/step-selection.ts';
import { type UnmatchedFilter, unknownFilters } from '../../plan/matrix/selection.ts';
import type { Plan } from '../../plan/plan.ts';
import { quoted } from '../../report/text/printable.ts';
import { usageError } from '../errors/cli-error.ts';
import { revaluing, without } from '../errors/correction.ts';
import type { SelectionFlags } from '../flags.ts';

/** Returns the part of a plan that the flags select; without flags, all of it. */
export const selectionOf = ({ limit, filter, shard, only }: SelectionFlags): Selection => ({
  ...(limit === undefined ? {} : { limit }),
  ...(filter.length === 0 ? {} : { filters: filter }),
  ...(shard === undefined ? {} : { shard }),
  ...(only.length === 0 ? {} : { only }),
});

/** Returns the part of a plan that a run works on: what its flags choose, or whatever lacks a file that is to be downloaded again. */
export const partToWork = (selection: Selection, repairs: object | undefined): Selection =>
  repairs ? { unsaved: true } : selection;

/**
 * Checks the names and values in the flags against the plan.
 *
 * @throws CliError (exit 2) that suggests what was probably meant; TableError if a table cannot be read again
 */
export async function checkSelection(plan: Plan, selection: Selection, signal?: AbortSignal): Promise<void> {
  const steps = chosenSteps(plan, selection.only);
  if (!steps.ok) {
    const names = [...plan.slotGraph.steps.keys()];
    const unknown = (selection.only ?? []).find((name) => !names.includes(name)) ?? '';
    const [before, behind] = [unknown.split('/')[0] ?? '', nearest(unknown, names)];
    const near = names.includes(before) ? before : behind;
    throw usageError(
      `--only ${unknown}: ${steps.error.message}`,
      steps.error.hint,
      revaluing('--only', unknown, [near ?? names[0] ?? ''], near === undefined ? 'example' : 'mended'),
    );
  }
  const { variables } = plan.matrix;
  const [axis] = unknownFilters(plan.matrix, selection);
  if (axis !== undefined) {
    const { value = '' } = (selection.filters ?? []).find((filter) => filter.axis === axis) ?? {};
    const near = nearest(axis, variables);
    const [first] = variables;
    throw usageError(
      `--filter: the matrix has no "${axis}".`,
      near !== undefined
        ? `Did you mean ${near}?`
        : first === undefined
          ? 'This pipeline has no matrix: leave --filter out.'
          : `It has ${listed(variables)}. promptpress plan FILE --cells lists their values.`,
      first === undefined
        ? without('--filter', true)
        : revaluing(
            '--filter',
            `${axis}=${value}`,
            [`${near ?? first}=${near === undefined ? 'VALUE' : value}`],
            near === undefined ? 'example' : 'mended',
          ),
    );
  }
  const [unmatched] = await plan.matrix.unmatched(selection, signal);
  if (unmatched !== undefined) throw unmatchedFilter(unmatched);
}

const maxListed = 12;

const listed = (names: readonly string[]): string =>
  names.length <= maxListed
    ? names.join(', ')
    : `${names.slice(0, maxListed).join(', ')} and ${names.length - maxListed} more`;

function unmatchedFilter({ axis, value, values, ranges, more, members }: UnmatchedFilter): Error {
  const message = `--filter: no cell has ${axis} "${value}".`;
  const given = `${axis}=${value}`;
  const [first] = members;
  if (first !== undefined) {
    const isPlace = values.length > 0;
    const place = isPlace ? axis : axis.slice(0, axis.lastIndexOf('.'));
    return usageError(
      message,
      `${place} has ${members.join(', ')}: --filter ${quoted(`${place}.${first}=${isPlace ? '…' : value}`)}.`,
      isPlace ? undefined : revaluing('--filter', given, [`${place}.${first}=${value}`], 'example'),
    );
  }
  const known = [...ranges, ...values.map((text) => `"${text}"`)];
  const list = `${known.join(', ')}${more ? ' and others' : ''}`;
  const several = severalValues(value, values, ranges.length > 0);
  if (several !== undefined)
    return usageError(
      message,
      `One --filter has one value; for several give it several times. Its values: ${list}.`,
      revaluing(
        '--filter',
        given,
        several.map((one) => `${axis}=${one}`),
      ),
    );
  const near = nearest(value, values);
  const [example] = values;
  const shown = near ?? example;
  return usageError(
    message,
    near === undefined ? `Its values: ${list}.` : `Did you mean ${near}? Its values: ${list}.`,
    shown === undefined
      ? undefined
      : revaluing('--filter', given, [`${axis}=${shown}`], near === undefined ? 'example' : 'mended'),
  );
}

const maxSeveral = 20;

/** Splits a value at commas or bars, if at least one part is a known value. */
function severalValues(
  text: string,
  values: readonly string[],
  isRange: boolean,
): readonly string[] | undefined {
  const parts = text
    .replace(/^[[{(]|[\])}]$/g, '')
    .split(/[,|]/)
    .map((part) => part.trim().replace(/^["']|["']$/g, ''))
    .filter((part) => part !== '');
  if (parts.length < 2 || parts.length > maxSeveral) return undefined;
  const isKnown = (part: string): boolean => values.includes(part) || (isRange && /^-?\d+$/.test(part));
  return parts.some(isKnown) ? parts : undefined;
}

/** Refuses a run or plan without cells. @throws CliError (exit 2) */
export function checkChosen(plan: Plan, chosen: number): void {
  if (chosen > 0) return;
  throw usageError(
    plan.matrix.cellCount === 0 ? 'The matrix has no cell.' : 'The flags choose no cell.',
    'promptpress plan FILE --cells lists the cells and their values.',
  );
}
