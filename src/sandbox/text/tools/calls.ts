import type { Random } from '../../draw/canvas/random.ts';
import { digestOfValue, uuidOf } from '../../seeded.ts';
import type { ReplyPart } from '../answer.ts';
import { type Ask, type FunctionDeclaration, type Members, responsesOf } from '../ask.ts';
import { valueFor } from '../json/value.ts';
import type { Occasion } from '../say/prose.ts';
import { stemsOf } from '../say/subject.ts';
import { callSignature } from './signature.ts';

/** Most calls of one reply. */
const mostCalls = 3;

/** The functions that the model calls now; empty where it answers in text. */
export function callsOf(ask: Ask, occasion: Occasion, candidate: number): readonly ReplyPart[] {
  const { mostCalls: most } = ask;
  return chosen(ask, occasion.prompt, occasion.random)
    .slice(0, most)
    .map((declaration, index) => {
      const { name } = declaration;
      const args = valueFor(
        declaration.schema,
        occasion,
        `${ask.digest} ${candidate} call ${index}`,
      ) as Members;
      const id = uuidOf(`call ${ask.digest} ${candidate} ${index} ${name} ${digestOfValue(args)}`).slice(
        0,
        8,
      );
      return {
        kind: 'call',
        id: `call_${id}`,
        name,
        args,
        ...(ask.model.newer ? { signature: callSignature(name, args) } : {}),
      };
    });
}

function chosen(ask: Ask, prompt: string, random: Random): readonly FunctionDeclaration[] {
  const open = ask.functions.filter(({ name }) => ask.callable.length === 0 || ask.callable.includes(name));
  if (ask.calling === 'NONE' || open.length === 0) return [];
  if (ask.calling === 'AUTO' && responsesOf(ask).length > 0) return [];
  const named = open.filter(({ name }) => prompt.includes(name));
  if (named.length > 0) return named.slice(0, mostCalls);
  const asked = stemsOf(prompt);
  const scores = open.map((declaration) => {
    const own = stemsOf(`${declaration.name} ${declaration.description}`);
    return { declaration, score: [...asked].filter((stem) => own.has(stem)).length };
  });
  const most = Math.max(...scores.map(({ score }) => score));
  if (most === 0) return ask.calling === 'ANY' ? [random.pick(open)] : [];
  return scores
    .filter(({ score }) => score === most)
    .slice(0, mostCalls)
    .map(({ declaration }) => declaration);
}
