import { createHash } from 'node:crypto';
import type { Random } from '../draw/canvas/random.ts';
import { canonical, digestOfValue, uuidOf } from '../seeded.ts';
import type { Grounding, GroundingChunk, GroundingSupport, ReplyPart } from './answer.ts';
import {
  type Ask,
  type AskTurn,
  type FunctionDeclaration,
  type Members,
  questionOf,
  responsesOf,
} from './ask.ts';
import { valueFor } from './json/value.ts';
import type { Occasion } from './say/prose.ts';
import { stemsOf, subjectOf } from './say/wishes.ts';

const sites = ['example.org', 'example.com', 'example.net'] as const;

/** Makes sources for a text; one or two of them support each sentence. Segments count UTF-8 bytes. */
export function groundingOf(ask: Ask, prompt: string, text: string, random: Random): Grounding {
  const words = subjectOf(prompt, 5);
  const topic = words.length === 0 ? 'the question' : words.join(' ');
  const slug = encodeURIComponent(topic.toLowerCase().replaceAll(' ', '-'));
  const chunks: GroundingChunk[] = [];
  if (ask.search) {
    const count = random.int(2, 4);
    for (let index = 0; index < count; index += 1) {
      const site = sites[index % sites.length] ?? sites[0];
      chunks.push({ web: { uri: `https://www.${site}/${slug}/${index + 1}`, title: site } });
    }
  }
  if (ask.maps !== undefined) {
    const count = random.int(1, 3);
    for (let index = 0; index < count; index += 1) {
      const placeId = `ChIJ${uuidOf(`place ${topic} ${index}`).replaceAll('-', '').slice(0, 23)}`;
      const title = `${random.pick(['Old Town', 'Harbour', 'Hillside', 'Station'])} ${words[0] ?? 'Place'}`;
      chunks.push({
        maps: {
          uri: `https://maps.example.com/?cid=${random.int(1e9, 2e9)}`,
          title,
          placeId: `places/${placeId}`,
          text: `${title} is open daily.`,
        },
      });
    }
  }
  const queries = [topic, `${topic} ${random.pick(['facts', 'overview', 'today', 'explained'])}`];
  return {
    ...(ask.search
      ? {
          webSearchQueries: queries,
          searchEntryPoint: {
            renderedContent: `<div class="search">${queries.map((query) => `<a>${escapeHtml(query)}</a>`).join('')}</div>`,
          },
        }
      : {}),
    groundingChunks: chunks,
    groundingSupports: supportsOf(text, chunks.length, random),
    ...(ask.maps?.widget === true
      ? { googleMapsWidgetContextToken: `widgetcontent/${uuidOf(`widget ${topic}`)}` }
      : {}),
  };
}

function supportsOf(text: string, chunks: number, random: Random): readonly GroundingSupport[] {
  const supports: GroundingSupport[] = [];
  for (const match of text.matchAll(/\S[^.!?\n]*[.!?]?/g)) {
    if (supports.length >= 50) break;
    const first = random.int(0, chunks - 1);
    const second = chunks > 1 && random.chance(0.4) ? (first + 1) % chunks : undefined;
    const indices = second === undefined ? [first] : [first, second].sort((one, other) => one - other);
    const startIndex = Buffer.byteLength(text.slice(0, match.index));
    supports.push({
      groundingChunkIndices: indices,
      confidenceScores: indices.map(() => Math.round(random.range(0.6, 0.99) * 100) / 100),
      segment: { startIndex, endIndex: startIndex + Buffer.byteLength(match[0]), text: match[0] },
    });
  }
  return supports;
}

const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** Returns the thought signature of a function call, which fits only this call. */
const callSignature = (name: string, args: Members): string =>
  createHash('sha512')
    .update(`thought ${name} ${canonical(args)}`)
    .digest('base64');

/**
 * Checks the signatures of earlier function calls (gateway 6.4): since the question each call needs its own signature; before, it may be
 * missing, but not changed. Returns the error in the words of the family.
 */
export function signatureError(turns: readonly AskTurn[]): string | undefined {
  const current = turns.lastIndexOf(questionOf({ turns }));
  let position = 0;
  for (const [index, { parts }] of turns.entries()) {
    for (const part of parts) {
      if (part.kind !== 'call') continue;
      position += 1;
      const about = `function call \`default_api:${part.name}\`, position ${position}`;
      if (part.signature === undefined) {
        if (index < current) continue;
        return (
          'Function call is missing a thought_signature in functionCall parts. This is required for tools to work ' +
          `correctly, and missing thought_signature may lead to degraded model performance. Additional data, ${about}.`
        );
      }
      if (part.signature !== callSignature(part.name, part.args))
        return `Thought signature is not valid. Additional data, ${about}.`;
    }
  }
  return undefined;
}

/** Returns code and its output: it adds up the prompt's numbers, or counts its words. */
export function codeParts(prompt: string): readonly ReplyPart[] {
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

const maxCalls = 3;

/** Returns the function calls of a reply; none if the model answers in text. */
export function callsOf(ask: Ask, occasion: Occasion, candidate: number): readonly ReplyPart[] {
  return chosen(ask, occasion.prompt, occasion.random)
    .slice(0, ask.maxCalls)
    .map(({ name, schema }, index) => {
      const args = valueFor(schema, occasion, `${ask.digest} ${candidate} call ${index}`) as Members;
      const digest = uuidOf(`call ${ask.digest} ${candidate} ${index} ${name} ${digestOfValue(args)}`);
      const signature = ask.model.newer && { signature: callSignature(name, args) };
      return { kind: 'call', id: `call_${digest.slice(0, 8)}`, name, args, ...signature };
    });
}

function chosen(ask: Ask, prompt: string, random: Random): readonly FunctionDeclaration[] {
  const open = ask.functions.filter(({ name }) => ask.callable.length === 0 || ask.callable.includes(name));
  if (ask.calling === 'NONE' || open.length === 0) return [];
  if (ask.calling === 'AUTO' && responsesOf(ask).length > 0) return [];
  const named = open.filter(({ name }) => prompt.includes(name));
  if (named.length > 0) return named.slice(0, maxCalls);
  const asked = stemsOf(prompt);
  const scores = open.map((declaration) => {
    const own = stemsOf(`${declaration.name} ${declaration.description}`);
    return { declaration, score: [...asked].filter((stem) => own.has(stem)).length };
  });
  const most = Math.max(...scores.map(({ score }) => score));
  if (most === 0) return ask.calling === 'ANY' ? [random.pick(open)] : [];
  return scores
    .filter(({ score }) => score === most)
    .slice(0, maxCalls)
    .map(({ declaration }) => declaration);
}
