import { Random } from '../../draw/canvas/random.ts';
import { digestOfValue, uuidOf } from '../../seeded.ts';
import {
  type Candidate,
  type ModelReply,
  plain,
  type ReplyFinish,
  type ReplyPart,
  visibleText,
} from '../answer.ts';
import {
  type Ask,
  type AskTurn,
  type FunctionDeclaration,
  joinedText,
  type Members,
  questionOf,
  responsesOf,
} from '../ask.ts';
import { cachedTokens, promptTokens, toolTokens } from '../ask-tokens.ts';
import { valueFor } from '../json/value.ts';
import type { NativeThinkingLevel } from '../models.ts';
import { refuse, type Understood } from '../protocol/problem.ts';
import { earlierDecision } from '../say/decision.ts';
import { type Occasion, sayText } from '../say/prose.ts';
import { stemsOf, subjectOf } from '../say/subject.ts';
import { type Sight, seeImage } from '../see/sight.ts';
import { addTokens, countTokens, firstTokens, type ModalTokens, type Usage } from '../tokens.ts';
import { groundingOf } from '../tools/grounding.ts';
import { callSignature } from '../tools/signature.ts';
import { isMarked, type TextMarks, withoutMarks } from './marks.ts';

/** What a reply is made with. */
export interface Composing {
  readonly marks: TextMarks;
  /** The PNG for a prompt; `seed` makes images of equal prompts differ. */
  readonly paint: (
    prompt: string,
    seed: string,
    wish: NonNullable<Ask['image']>,
    candidate: number,
  ) => Promise<Buffer>;
}

/** Makes the reply to a request: it depends on the request alone. */
export async function composeReply(ask: Ask, making: Composing): Promise<Understood<ModelReply>> {
  const { marks } = making;
  const seen = await sightsOf(ask.turns);
  if (!seen.ok) return seen;
  const question = questionOf(ask);
  const asked = joinedText(question.parts);
  const prompt = promptTokens(ask, seen.value);
  const cached = cachedTokens(ask);
  const before = { prompt: addTokens(prompt, cached), cached };
  if (isMarked(asked, marks.blockedMark)) {
    const usage = { ...before, candidates: {}, thoughts: 0, tool: {} };
    return { ok: true, value: { blocked: 'PROHIBITED_CONTENT', candidates: [], usage } };
  }

  const candidates: Candidate[] = [];
  for (let index = 0; index < ask.count; index += 1) {
    const sights = question.parts.flatMap((part) => {
      const sight = part.kind === 'image' ? seen.value.get(part.bytes) : undefined;
      return sight === undefined ? [] : [sight];
    });
    candidates.push(await candidateOf(ask, asked, sights, index, making));
  }
  const usage: Usage = {
    ...before,
    candidates: candidates.map(({ tokens }) => tokens).reduce(addTokens, {}),
    thoughts: candidates.reduce((sum, { thoughts }) => sum + thoughts, 0),
    tool: toolTokens(ask, candidates),
  };
  const mishap = isMarked(asked, marks.cutMark)
    ? 'cut'
    : isMarked(asked, marks.streamErrorMark)
      ? 'error'
      : undefined;
  return { ok: true, value: { candidates, usage, ...(mishap === undefined ? {} : { mishap }) } };
}

async function candidateOf(
  ask: Ask,
  asked: string,
  sights: readonly Sight[],
  index: number,
  { marks, paint }: Composing,
): Promise<Candidate> {
  const random = new Random(`${ask.digest} candidate ${index}`);
  const prompt = withoutMarks(asked, marks).trim();
  const earlier = earlierDecision(ask.turns);
  const occasion: Occasion = {
    prompt,
    system: ask.system,
    sights,
    facts: responsesOf(ask).map(({ name, response }) => `${name} gave ${plain(response)}`),
    random,
    seed: `${ask.digest} ${index}`,
    temperature: ask.temperature,
    ...(earlier === undefined ? {} : { earlier }),
  };
  const logprob = -Math.round(random.range(0.02, 0.1 + 0.4 * ask.temperature) * 1e6) / 1e6;
  const planned = thoughtTokens(ask, random);
  const thought = ask.thinking.shown && planned > 0 ? { thought: thoughtSummary(prompt, random) } : {};
  // Thoughts come out of the same budget: what they use up is not there for the reply (gateway 6.6).
  const room = ask.longest ?? ask.model.longest;
  const thoughts = Math.min(planned, Math.max(1, room - 1));
  const bare = (finish: ReplyFinish): Candidate => ({
    parts: [],
    finish,
    tokens: {},
    thoughts,
    logprob,
    citations: [],
  });
  if (isMarked(asked, marks.unsafeMark) && !ask.unguarded) return bare('SAFETY');
  if (isMarked(asked, marks.recitedMark)) {
    const citations = [
      { startIndex: 0, endIndex: 120, uri: 'https://www.example.org/source', license: 'unknown' },
    ];
    return { ...bare('RECITATION'), citations };
  }
  if (isMarked(asked, marks.refusedMark)) return bare('REFUSED');
  if (isMarked(asked, marks.emptyMark)) return bare('STOP');
  if (isMarked(asked, marks.badCallMark) && ask.functions.length > 0) return bare('MALFORMED_FUNCTION_CALL');

  if (planned >= room) return bare('MAX_TOKENS');

  const calls = callsOf(ask, occasion, index);
  const parts: ReplyPart[] = [];
  if (calls.length > 0) {
    parts.push(...calls);
  } else {
    if (ask.code) parts.push(...codeParts(prompt));
    if (ask.wantsText) parts.push({ kind: 'text', text: textFor(ask, occasion, asked, index, marks) });
    if (ask.image !== undefined) {
      const png = await paint(prompt === '' ? 'an image' : prompt, ask.digest, ask.image, index);
      parts.push({ kind: 'image', png });
    }
  }
  const fitted = fit(parts, ask, room - thoughts);
  const text = visibleText(fitted);
  return {
    ...fitted,
    ...thought,
    thoughts,
    logprob,
    citations: citationsOf(ask, text, random),
    ...((ask.search || ask.maps !== undefined) && text !== ''
      ? { grounding: groundingOf(ask, prompt, text, random) }
      : {}),
  };
}

function textFor(ask: Ask, occasion: Occasion, asked: string, index: number, marks: TextMarks): string {
  if (ask.json === undefined) return sayText(occasion);
  const value = valueFor(ask.json.schema, occasion, `${ask.digest} ${index} json`);
  if (ask.json.isWord && typeof value === 'string') return value;
  const text = JSON.stringify(value, undefined, 2);
  return isMarked(asked, marks.notJsonMark) ? `Here is the JSON: ${text.slice(0, -1)},` : text;
}

/** Now and then a part of a text is found elsewhere. */
function citationsOf(ask: Ask, text: string, random: Random): Candidate['citations'] {
  if (ask.json !== undefined || text.length < 80 || !random.chance(0.15)) return [];
  const sentence = /^[^.!?]*[.!?]?/.exec(text)?.[0] ?? text;
  return [
    {
      startIndex: 0,
      endIndex: Buffer.byteLength(sentence),
      uri: `https://www.example.org/library/${random.int(100, 999)}`,
      license: random.pick(['', 'mit', 'cc-by-4.0']),
    },
  ];
}

async function sightsOf(turns: readonly AskTurn[]): Promise<Understood<ReadonlyMap<Buffer, Sight>>> {
  const seen = new Map<Buffer, Sight>();
  for (const part of turns.flatMap(({ parts }) => parts)) {
    if (part.kind !== 'image') continue;
    const sight = await seeImage(part.bytes);
    if (sight === undefined) return refuse(`Unable to process input image at ${part.where}.`);
    seen.set(part.bytes, sight);
  }
  return { ok: true, value: seen };
}

/** Tokens that a level is about. */
const levelTokens: Readonly<Record<NativeThinkingLevel, number>> = {
  MINIMAL: 0,
  LOW: 48,
  MEDIUM: 144,
  HIGH: 384,
};

/** What a model thinks that may think as much as it likes. */
const dynamic = 256;

/** Tokens that the model thinks before it answers: by level or budget, never more than the budget. */
function thoughtTokens({ model, thinking }: Ask, random: Random): number {
  const spread = random.range(0.7, 1.3);
  switch (model.thinking.kind) {
    case 'none':
      return 0;
    case 'level':
      return Math.round(levelTokens[thinking.level ?? model.thinking.usual] * spread);
    case 'budget': {
      const budget = thinking.budget ?? model.thinking.usual;
      if (budget === -1) return Math.round(dynamic * spread);
      return Math.floor(Math.min(budget * random.range(0.6, 1), 4 * dynamic * spread));
    }
  }
}

/** What is shown of the thoughts. */
function thoughtSummary(prompt: string, random: Random): string {
  const words = subjectOf(prompt, 4);
  const about = words.length === 0 ? 'the request' : words.join(', ');
  return [
    `**Considering ${about}**\n\nI look at what is asked first: ${about}. `,
    random.pick([
      'I weigh two ways to put it and keep the plainer one.',
      'I check the wanted form and length before I write.',
      'I leave out what the question does not need.',
    ]),
  ].join('');
}

/** Tokens of an image that is made, by its size (gateway 6.5). */
const paintedTokens = { 1: 1120, 2: 1120, 4: 2000 } as const;

/** What is left of a reply's parts, why it ends there, and what these parts count. */
type Fitted = Pick<Candidate, 'parts' | 'finish' | 'tokens'>;

/**
 * As much of a reply as there is: up to the first stop sequence, and what there is room for.
 *
 * @param room in tokens
 */
function fit(parts: readonly ReplyPart[], ask: Ask, room: number): Fitted {
  const kept: ReplyPart[] = [];
  let tokens: ModalTokens = {};
  let left = room;
  const end = (finish: ReplyFinish): Fitted => ({
    parts: kept,
    finish,
    tokens,
  });
  for (const part of parts) {
    if (part.kind === 'text') {
      const stop = Math.min(
        ...ask.stops
          .filter((word) => word !== '' && part.text.includes(word))
          .map((word) => part.text.indexOf(word)),
      );
      const text = Number.isFinite(stop) ? part.text.slice(0, stop) : part.text;
      const count = countTokens(text);
      const fitting = count > left ? firstTokens(text, left) : text;
      tokens = addTokens(tokens, { TEXT: Math.min(count, left) });
      if (fitting !== '') kept.push({ kind: 'text', text: fitting });
      if (count > left) return end('MAX_TOKENS');
      left -= count;
      if (Number.isFinite(stop)) return end('STOP');
    } else {
      const image = part.kind === 'image';
      const count = image ? paintedTokens[ask.image?.scale ?? 1] : countTokens(plain(part));
      if (count > left) return end('MAX_TOKENS');
      left -= count;
      tokens = addTokens(tokens, image ? { IMAGE: count } : { TEXT: count });
      kept.push(part);
    }
  }
  return end('STOP');
}

/** Code that the model writes and runs: it adds up the prompt's numbers, or counts its words. */
function codeParts(prompt: string): readonly ReplyPart[] {
  const numbers = (prompt.match(/-?\d+(?:\.\d+)?/g) ?? []).slice(0, 50).map(Number);
  if (numbers.length > 0) {
    const sum = Math.round(numbers.reduce((total, number) => total + number, 0) * 1e6) / 1e6;
    return [
      { kind: 'code', code: `numbers = [${numbers.join(', ')}]\nprint(round(sum(numbers), 6))\n` },
      { kind: 'output', output: `${sum}\n` },
    ];
  }
  const text = prompt.slice(0, 200);
  return [
    { kind: 'code', code: `text = ${JSON.stringify(text)}\nprint(len(text.split()))\n` },
    { kind: 'output', output: `${text.split(/\s+/).filter((word) => word !== '').length}\n` },
  ];
}

/** Most calls of one reply. */
const mostCalls = 3;

/** The functions that the model calls now; empty where it answers in text. */
function callsOf(ask: Ask, occasion: Occasion, candidate: number): readonly ReplyPart[] {
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
