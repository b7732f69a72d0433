import type { Random } from '../../draw/canvas/random.ts';
import { type Occasion, saySentence } from '../say/prose.ts';
import { subjectOf } from '../say/subject.ts';
import { numberFor } from './scalar/number.ts';
import { textForSchema } from './scalar/words.ts';

/** JSON for a prompt that asks for it without a schema: its members are those that the prompt names. */
export function looseValue(occasion: Occasion, random: Random): unknown {
  const [, list = ''] =
    /\b(?:keys?|fields?|members?|properties)\b[^\w"`]*(["`]?\w+["`]?(?:(?:,\s*(?:and\s+)?|\s+and\s+)["`]?\w+["`]?)*)/i.exec(
      occasion.prompt,
    ) ?? [];
  const named = [...list.matchAll(/\w+/g)].map(([word]) => word).filter((word) => word !== 'and');
  const names = named.length > 0 ? named.slice(0, 12) : ['answer', 'keywords'];
  const own = { ...occasion, random };
  return Object.fromEntries(
    names.map((name) => [
      name,
      name.endsWith('s') && !name.endsWith('ss')
        ? subjectOf(occasion.prompt, 3).map((word) => word.toLowerCase())
        : /score|index|count|number|best/.test(name)
          ? numberFor({}, true, name, occasion, random)
          : name === 'answer'
            ? saySentence(own)
            : textForSchema({}, name, occasion, random),
    ]),
  );
}
