import type { Random } from '../../draw/canvas/random.ts';
import type { Ask } from '../ask.ts';
import type { NativeThinkingLevel } from '../models.ts';
import { subjectOf } from '../say/subject.ts';

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
export function thoughtTokens({ model, thinking }: Ask, random: Random): number {
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
export function thoughtSummary(prompt: string, random: Random): string {
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
