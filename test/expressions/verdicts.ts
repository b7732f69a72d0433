import { growthOf } from './growth.ts';
import { reasons } from './reasons.ts';
import type { Expression } from './source.ts';

/** What is known of the work of an expression. */
export type Verdict =
  | { readonly expression: Expression; readonly safe: true; readonly because: string }
  | { readonly expression: Expression; readonly safe: false; readonly why: string };

/** Whether an expression is linear, or else has its reason in the list. */
export function judge(expression: Expression, listed: typeof reasons = reasons): Verdict {
  const { file, text, literal } = expression;
  const growth =
    literal === undefined
      ? ({ linear: false, why: 'it is made at run time' } as const)
      : growthOf(literal.source, literal.flags);
  if (growth.linear) return { expression, safe: true, because: 'linear' };
  const reason = listed[file]?.[text];
  return reason === undefined
    ? { expression, safe: false, why: growth.why }
    : { expression, safe: true, because: reason };
}

/** Entries of the list that no expression needs any longer, as `file: expression`. */
export function unneeded(verdicts: readonly Verdict[], listed: typeof reasons = reasons): readonly string[] {
  const needed = new Set(
    verdicts.flatMap((verdict) =>
      verdict.safe && verdict.because !== 'linear'
        ? [`${verdict.expression.file}: ${verdict.expression.text}`]
        : [],
    ),
  );
  return Object.entries(listed)
    .flatMap(([file, entries]) => Object.keys(entries).map((text) => `${file}: ${text}`))
    .filter((entry) => !needed.has(entry));
}
