import type { MemoryReading } from '../../run/events.ts';
import type { BodyPool } from '../../service/http/body/budget.ts';

/** Reads what this process holds, and what of that are answers of the service. */
export function memoryOf(bodies: BodyPool): MemoryReading {
  const { rss, heapUsed, external, arrayBuffers } = process.memoryUsage();
  return {
    rssBytes: rss,
    heapBytes: heapUsed,
    externalBytes: external,
    arrayBufferBytes: arrayBuffers,
    answerBytes: bodies.held,
    mostAnswerBytes: bodies.most,
    answersWaiting: bodies.waiting,
  };
}
