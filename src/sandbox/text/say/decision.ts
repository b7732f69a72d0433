import { type AskTurn, joinedText } from '../ask.ts';

/** Members of JSON that say what a reply decides for. */
export const decisionNames = /^(best|winner|choice|chosen|pick|picked|selected|sharpest)$/i;

/** What a conversation has already decided. */
export interface Decision {
  /** Number of the frame, picture or option. */
  readonly choice: number;
  /** The questions that were put before. */
  readonly question: string;
}

/** So deep lies the decision of a reply at most. */
const mostDepth = 4;

/**
 * The last decision of the model's earlier turns, so that what it says next does not contradict it. Undefined where it decided
 * nothing, and where new images came since.
 */
export function earlierDecision(turns: readonly AskTurn[]): Decision | undefined {
  for (let index = turns.length - 1; index > 0; index -= 1) {
    const { role, parts } = turns[index] as AskTurn;
    if (role === 'user' && parts.some(({ kind }) => kind === 'image')) return undefined;
    const choice = role === 'model' ? decidedIn(joinedText(parts)) : undefined;
    if (choice === undefined) continue;
    const asked = turns.slice(0, index).filter((turn) => turn.role === 'user');
    return { choice, question: asked.map(({ parts: said }) => joinedText(said)).join('\n') };
  }
  return undefined;
}

function decidedIn(text: string): number | undefined {
  const [, said = text] = /\b(\d{1,4}) is the best choice\b/.exec(text) ?? [];
  try {
    const value: unknown = JSON.parse(said);
    return typeof value === 'number' ? whole(value) : memberIn(value, 0);
  } catch {
    return undefined;
  }
}

function memberIn(value: unknown, depth: number): number | undefined {
  if (typeof value !== 'object' || value === null || depth === mostDepth) return undefined;
  for (const [name, member] of Object.entries(value)) {
    const found = decisionNames.test(name) ? whole(member) : memberIn(member, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

const whole = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isSafeInteger(value) ? value : undefined;
