import { Random } from '../draw/canvas/random.ts';
import { canonical } from '../seeded.ts';
import {
  type Candidate,
  type ModelReply,
  plain,
  type ReplyFinish,
  type ReplyPart,
  visibleText,
} from './answer.ts';
import {
  type Ask,
  type AskTurn,
  joinedText,
  questionOf,
  refuse,
  responsesOf,
  type Understood,
} from './ask.ts';
import { valueFor } from './json/value.ts';
import {
  addTokens,
  countTokens,
  firstTokens,
  imageTokens,
  type ModalTokens,
  type NativeThinkingLevel,
  type Usage,
} from './models.ts';
import { type Occasion, sayText } from './say/prose.ts';
import { earlierDecision, subjectOf } from './say/wishes.ts';
import { type Sight, seeImage } from './sight.ts';
import { callsOf, codeParts, groundingOf } from './tools.ts';

/** The settings and the painter that replies are made with. */
export interface Composing {
  readonly marks: TextMarks;
  /** Paints a PNG for a prompt. `seed` makes images of equal prompts differ. */
  readonly paint: (
    prompt: string,
    seed: string,
    wish: NonNullable<Ask['image']>,
    candidate: number,
  ) => Promise<Buffer>;
}

/** Makes the reply to a request. It depends only on the request. */
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
  const cut = isMarked(asked, marks.cutMark) && ({ mishap: 'cut' } as const);
  const error = isMarked(asked, marks.streamErrorMark) && ({ mishap: 'error' } as const);
  return { ok: true, value: { candidates, usage, ...(cut || error) } };
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
  // Thoughts and the visible reply share one budget (gateway 6.6).
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

/** Makes a citation for one in seven longer texts. */
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

/** Mean number of thinking tokens of each level. */
const levelTokens: Readonly<Record<NativeThinkingLevel, number>> = {
  MINIMAL: 0,
  LOW: 48,
  MEDIUM: 144,
  HIGH: 384,
};

/** Mean number of thinking tokens without a budget. */
const dynamic = 256;

/** Returns the number of thinking tokens, by level or budget, at most the budget. */
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

/** Tokens of a painted image, by its scale (gateway 6.5). */
const paintedTokens = { 1: 1120, 2: 1120, 4: 2000 } as const;

/** The parts of a reply that fit, the reason why it ends, and its tokens. */
type Fitted = Pick<Candidate, 'parts' | 'finish' | 'tokens'>;

/** Cuts a reply at the first stop sequence, and after `room` tokens. */
function fit(parts: readonly ReplyPart[], ask: Ask, room: number): Fitted {
  const kept: ReplyPart[] = [];
  let tokens: ModalTokens = {};
  let left = room;
  const end = (finish: ReplyFinish): Fitted => ({ parts: kept, finish, tokens });
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

/** Marks in a prompt that ask for a certain failure. An empty mark is off. */
export interface TextMarks {
  /** The prompt is blocked: no candidates (gateway 6.6). */
  readonly blockedMark: string;
  /** The reply ends with SAFETY and without parts, unless every safety setting is BLOCK_NONE or OFF. */
  readonly unsafeMark: string;
  /** The reply ends with RECITATION and without parts. */
  readonly recitedMark: string;
  /** The reply ends with STOP and without parts. */
  readonly emptyMark: string;
  /** The requested JSON is broken. */
  readonly notJsonMark: string;
  /** The reply ends with MALFORMED_FUNCTION_CALL if functions are declared. */
  readonly badCallMark: string;
  /** The chat reply is a refusal (gateway 7.1). */
  readonly refusedMark: string;
  /** The stream ends in its middle, without a finishReason; the next equal request succeeds. */
  readonly cutMark: string;
  /** The stream has an error in its middle (503 UNAVAILABLE); the next equal request succeeds. */
  readonly streamErrorMark: string;
}

const isMarked = (text: string, mark: string): boolean => mark !== '' && text.includes(mark);

/** Removes the marks from a text, so that replies do not repeat them. */
function withoutMarks(text: string, marks: TextMarks): string {
  const all = [
    marks.blockedMark,
    marks.unsafeMark,
    marks.recitedMark,
    marks.emptyMark,
    marks.notJsonMark,
    marks.badCallMark,
    marks.refusedMark,
    marks.cutMark,
    marks.streamErrorMark,
  ];
  let left = text;
  for (const mark of all) if (mark !== '') left = left.replaceAll(mark, '');
  return left;
}

const texts = (text: string): ModalTokens => ({ TEXT: countTokens(text) });

function promptTokens(ask: Ask, seen: ReadonlyMap<Buffer, Sight>): ModalTokens {
  const functions = ask.functions.map(({ name, description, schema }) =>
    texts(`${name} ${description} ${canonical(schema)}`),
  );
  const parts = ask.turns.flatMap((turn) =>
    turn.parts.map((part): ModalTokens => {
      switch (part.kind) {
        case 'text':
          return texts(part.text);
        case 'call':
          return texts(`${part.name} ${canonical(part.args)}`);
        case 'response':
          return texts(`${part.name} ${canonical(part.response)}`);
        case 'image': {
          const { width = 0, height = 0 } = seen.get(part.bytes) ?? {};
          return { IMAGE: imageTokens(width, height) };
        }
        case 'file':
          return fileTokens(part.mime, part.bytes);
      }
    }),
  );
  return [texts(ask.system), ...functions, ...parts].reduce(addTokens);
}

/** The tokens of the cached content that a request names, made up from the name. */
const cachedTokens = ({ cachedContent }: Ask): ModalTokens =>
  cachedContent === undefined ? {} : { TEXT: 1024 + ((countTokens(cachedContent) * 64) % 4096) };

function fileTokens(mime: string, bytes: number): ModalTokens {
  const count = Math.max(258, Math.ceil(bytes / 1000));
  if (mime.startsWith('audio/')) return { AUDIO: count };
  if (mime.startsWith('video/')) return { VIDEO: count };
  return mime.startsWith('image/') ? { IMAGE: 258 } : { DOCUMENT: count };
}

/** The tokens that tools give to the model: search results, and the output of code. */
function toolTokens(ask: Ask, candidates: readonly Candidate[]): ModalTokens {
  let count = 0;
  for (const { grounding, parts } of candidates) {
    count += 48 * (grounding?.groundingChunks.length ?? 0);
    for (const part of parts) if (part.kind === 'output') count += countTokens(part.output) + 12;
  }
  return count === 0 || (!ask.search && ask.maps === undefined && !ask.code) ? {} : { TEXT: count };
}
