import type { PageSummary } from '../../results/wire.ts';
import { type DiskPorts, DiskSource } from './disk.ts';
import { type LivePorts, LiveSource } from './live.ts';
import type { ResultSource } from './source.ts';

/** Lets the browser draw and handle events. A message has no delay of its own, unlike a timer. */
function pause(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.addEventListener('message', () => {
      port1.close();
      resolve();
    });
    port1.start();
    port2.postMessage(undefined);
  });
}

/** Loads a file of the report as a script: a page opened from the disk cannot read files in another way. */
function load(address: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const script = document.createElement('script');
    script.src = address;
    script.addEventListener('load', () => {
      script.remove();
      resolve();
    });
    script.addEventListener('error', () => {
      script.remove();
      reject(new Error(`${address} cannot be read`));
    });
    document.head.append(script);
  });
}

function parsed(): Promise<void> {
  return new Promise((resolve) => {
    if (document.readyState === 'loading')
      addEventListener('DOMContentLoaded', () => resolve(), { once: true });
    else resolve();
  });
}

const disk: DiskPorts = { parsed, load, pause, now: () => performance.now() };

const live: LivePorts = {
  later: (milliseconds, call) => void setTimeout(call, milliseconds),
  json: async (address) => {
    const response = await fetch(address, { cache: 'no-store' });
    if (!response.ok) throw new Error(`${address}: HTTP ${response.status}`);
    return await response.json();
  },
  events: (address, on) => {
    const events = new EventSource(address);
    events.addEventListener('open', on.open);
    events.addEventListener('error', () => {
      on.lost();
      // The browser gives up after a refusal. The page connects again, because the server may have been restarted.
      if (events.readyState === EventSource.CLOSED) setTimeout(() => live.events(address, on), 5000);
    });
    events.addEventListener('changed', ({ data }) => on.changed(JSON.parse(String(data)) as PageSummary));
  },
};

/** Opens the source that the document names: `<body data-source="disk">` or `live`. */
export function openSource(): ResultSource {
  if (document.body.dataset['source'] === 'live') {
    const source = new LiveSource(live);
    void source.open();
    return source;
  }
  const source = new DiskSource(disk);
  (globalThis as { promptpress?: unknown }).promptpress = source.callbacks;
  void source.open();
  return source;
}
