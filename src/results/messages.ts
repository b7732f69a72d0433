/** Messages of failures that share a code are often one and the same; more different ones are only counted. */
const mostDifferent = 1000;

/** What is shown of messages: one of them, and how many different ones there are besides. */
export interface CommonMessage {
  /** The most frequent one; of equally frequent ones the first by its text, so that every count gives the same message. */
  readonly message: string;
  /** Absent: none. Only the first 1000 different messages are counted separately. */
  readonly otherMessages?: number;
}

/** Counts messages of one code. */
export class Messages {
  readonly #counts = new Map<string, number>();

  add(message: string): void {
    const before = this.#counts.get(message);
    if (before !== undefined || this.#counts.size < mostDifferent)
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

/** The message for people: `The task failed. (and 3 other messages)`. */
export const messageText = ({ message, otherMessages = 0 }: CommonMessage): string =>
  otherMessages === 0
    ? message
    : `${message} (and ${otherMessages} other ${otherMessages === 1 ? 'message' : 'messages'})`;
