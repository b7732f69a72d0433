import type { Random } from '../../../draw/canvas/random.ts';
import { decisionNames } from '../../say/decision.ts';
import { choiceOf, type Occasion } from '../../say/prose.ts';
import { rangeOf } from '../../say/subject.ts';
import { descriptionOf, type Schema } from '../schema.ts';

/** A number of a schema: of a usual size for its name where the schema leaves it open. */
export function numberFor(
  schema: Schema,
  whole: boolean,
  name: string,
  occasion: Occasion,
  random: Random,
): number {
  const bound = (key: string, open: number): number =>
    typeof schema[key] === 'number' || typeof schema[key] === 'string' ? Number(schema[key]) : open;
  const low = Math.max(
    bound('minimum', Number.NEGATIVE_INFINITY),
    above(bound('exclusiveMinimum', Number.NEGATIVE_INFINITY), whole),
  );
  const high = Math.min(
    bound('maximum', Number.POSITIVE_INFINITY),
    -above(-bound('exclusiveMaximum', Number.POSITIVE_INFINITY), whole),
  );
  const step = bound('multipleOf', 0);
  const decided = choiceOf(occasion);
  if (decisionNames.test(name) && step === 0 && decided >= low && decided <= high) return decided;
  const usual = usualRange(name, descriptionOf(schema), occasion, whole);
  const [from, to] = within(usual, low, high);
  if (step > 0) return multipleWithin(from, to, low, high, step, random);
  if (whole) {
    const first = Math.ceil(from);
    return Math.min(first + Math.floor(random.range(0, 1) * (Math.floor(to) - first + 1)), Math.floor(to));
  }
  const share = random.range(0, 1);
  const value = from * (1 - share) + to * share;
  const rounded = Math.round(value * 100) / 100;
  return rounded >= low && rounded <= high ? rounded : Math.min(Math.max(value, low), high);
}

/** The next number that is more than a bound. */
function above(bound: number, whole: boolean): number {
  if (!Number.isFinite(bound)) return bound;
  if (whole) return Math.floor(bound) + 1;
  const step = Math.max(Math.abs(bound) * Number.EPSILON * 2, Number.MIN_VALUE);
  return bound + step;
}

/** The usual range where it lies within the bounds, else a stretch of them. */
function within([from, to]: readonly [number, number], low: number, high: number): readonly [number, number] {
  const first = Math.max(from, low);
  const last = Math.min(to, high);
  if (Math.ceil(first) <= Math.floor(last)) return [first, last];
  if (Number.isFinite(low)) return [low, Math.min(high, low + 100)];
  if (Number.isFinite(high)) return [high - 100, high];
  return [from, to];
}

function multipleWithin(
  from: number,
  to: number,
  low: number,
  high: number,
  step: number,
  random: Random,
): number {
  const multiple = (factor: number): number => Number((factor * step).toPrecision(15));
  for (const [first, last] of [
    [from, to],
    [low, high],
  ] as const) {
    const least = Math.ceil(first / step);
    const most = Math.floor(last / step);
    if (!(least <= most)) continue;
    const start = Number.isFinite(least) ? least : Number.isFinite(most) ? most - 100 : 0;
    const span = Math.min(Number.isFinite(most) ? most - start : 100, 100_000);
    // Sums of binary fractions are off by a little: only what divides evenly will do.
    for (let attempt = 0; attempt < 40; attempt += 1) {
      const value = multiple(start + random.int(0, span));
      if (Number.isInteger(value / step) && value >= low && value <= high) return value;
    }
    for (let offset = 0; offset <= Math.min(span, 1000); offset += 1) {
      const value = multiple(start + offset);
      if (Number.isInteger(value / step) && value >= low && value <= high) return value;
    }
  }
  return 0;
}

function usualRange(
  name: string,
  description: string,
  { prompt, sights }: Occasion,
  whole: boolean,
): readonly [number, number] {
  const about = `${name} ${description}`.toLowerCase();
  const [, from, to] = /\b(\d{1,6})\s*(?:to|-|–|\.\.)\s*(\d{1,6})\b/.exec(description) ?? [];
  if (from !== undefined && Number(from) < Number(to)) return [Number(from), Number(to)];
  if (
    /\b(best|worst|winner|winning|index|choice|chosen|pick(ed)?|frame|sharpest|selected|selection|option)\b/.test(
      about,
    )
  ) {
    const { low, high } = rangeOf(prompt, sights.length);
    return [low, high];
  }
  if (/confidence|probability|likelihood|share|ratio/.test(about)) return whole ? [0, 1] : [0.5, 0.99];
  if (/score|rating|quality|grade|rank/.test(about)) return [1, 10];
  if (/year/.test(about)) return [1990, 2026];
  if (/latitude|\blat\b/.test(about)) return [-60, 60];
  if (/longitude|\b(lng|lon)\b/.test(about)) return [-170, 170];
  if (/count|number|amount|quantity/.test(about)) return [1, 9];
  return [1, 100];
}
