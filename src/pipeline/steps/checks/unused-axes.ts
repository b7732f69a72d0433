import type { DiagnosticCollector } from '../../diagnostics/collector.ts';
import type { MatrixDraft } from '../../matrix/draft.ts';
import type { Axis } from '../../pipeline.ts';
import type { StepDraft } from '../draft.ts';

/**
 * Warns of axes that no request uses: their cells ask for the same thing. Only the templates decide, no cell is enumerated.
 * Silent where a template could not be read or names something that does not exist.
 */
export function warnOfUnusedAxes(
  matrix: MatrixDraft,
  steps: readonly StepDraft[],
  collector: DiagnosticCollector,
): void {
  if (steps.some((step) => !step.usesKnown || !step.pathKnown || step.kind === undefined)) return;
  const used = new Set(steps.flatMap((step) => step.variables.map(({ path }) => path[0] ?? '')));
  // A name that is not known may be a mistyped axis.
  for (const name of used) if (name !== 'repeat' && !matrix.variables.has(name)) return;
  for (const axis of matrix.spec.axes) {
    const names = axis.kind === 'rows' ? axis.columns : [axis.name];
    if (hasOneValue(axis) || names.some((name) => used.has(name))) continue;
    const what =
      axis.kind === 'rows'
        ? `No request uses a column of ${axis.declared}`
        : `No request uses "${axis.name}"`;
    const braced = bracedName(names, collector.source.text);
    collector.warning(
      'matrix.unused-axis',
      axis.position,
      `${what}, so cells that differ in nothing else ask for the same thing.`,
      braced === undefined
        ? equalHint
        : `{ ${braced} } is sent as it stands: a variable is written {{ ${braced} }}.`,
    );
  }
}

const equalHint =
  'Equal requests are made and paid once, and each of the cells shows the result. Use it in a prompt (a seed: --seed {{ seed }}), or ask for several results with repeat.';

/** The first of these names that the file has in single braces, as other languages have variables. */
const bracedName = (names: readonly string[], text: string): string | undefined =>
  names.find((name) =>
    [`{${name}}`, `{ ${name} }`].some((braced) => text.includes(braced) && !text.includes(`{${braced}`)),
  );

/** An axis that makes no more cells. */
export const hasOneValue = (axis: Axis): boolean => axis.kind === 'values' && axis.values.length <= 1;
