import type { Random } from '../../draw/canvas/random.ts';
import { uuidOf } from '../../seeded.ts';
import type { Grounding, GroundingChunk, GroundingSupport } from '../answer.ts';
import type { Ask } from '../ask.ts';
import { subjectOf } from '../say/subject.ts';

const sites = ['example.org', 'example.com', 'example.net'] as const;

/** Sources of a text, each of its sentences supported by one or two; segments count the bytes of its UTF-8. */
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
