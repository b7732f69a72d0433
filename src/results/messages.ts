/** Largest number of different messages of one code that are counted separately. Most failures share a message. */
const maxDifferent = 1000;

/** The most frequent message of a code, and the number of other messages. */
export interface CommonMessage {
  /** The most frequent message; of equally frequent ones the first in text order, so that every count gives the same message. */
  readonly message: string;
  /** Absent: none. Only the first 1000 different messages are counted separately. */
  readonly otherMessages?: number;
}

/** A counter of the messages of one code. */
export class Messages {
  readonly #counts = new Map<string, number>();

  add(message: string): void {
    const before = this.#counts.get(message);
    if (before !== undefined || this.#counts.size < maxDifferent)
      this.#counts.set(message, (before ?? 0) + 1);
  }

  common(): CommonMessage {
    let [message, most] = ['', 0];
    for (const [text, count] of this.#counts) {
      if (count < most || (count === most && text > message)) continue;
      [message, most] = [text, count];
    }
    const others = this.#counts.size - 1;
    return { message, ...(others > 0 && { otherMessages: others }) };
  }
}

/** Formats messages for people: `The task failed. (and 3 other messages)`. */
export const messageText = ({ message, otherMessages = 0 }: CommonMessage): string =>
  otherMessages === 0
    ? message
    : `${message} (and ${otherMessages} other ${otherMessages === 1 ? 'message' : 'messages'})`;
