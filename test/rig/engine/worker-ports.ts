import { wallClock } from '../../../src/cli/adapters/clock.ts';
import type { EngineStore } from '../../../src/engine/state/store.ts';
import type { Work } from '../../../src/engine/worker.ts';
import { cutNowhere } from '../frames.ts';
import type { ScriptedGateway } from '../gateway/scripted-gateway.ts';
import { keptNowhere, noText } from '../text-ports.ts';

/** What each step of a run asks of the outside, with one gateway for all workers. */
export function portsOf(service: ScriptedGateway): Work['ports'] {
  return (store: EngineStore) => {
    const submit = ({ tag = '', taskId }: { readonly tag?: string; readonly taskId?: string }) => {
      const record = store.get(tag);
      if (record?.status !== 'submitting')
        throw new Error('A submission left before its intent was durable.');
      const { result } = service.submit(record, taskId, wallClock.now());
      if ('unread' in result) throw new Error('No image is read here.');
      return Promise.resolve(result);
    };
    return {
      service: {
        action: submit,
        modal: () => Promise.reject(new Error('no modal is confirmed here')),
        begin: (request) => submit(request.tag === undefined ? {} : { tag: request.tag }),
        fetchTask: (id) => Promise.resolve(service.fetch(id, wallClock.now()).result),
        fetchTasks: (ids) => Promise.resolve(service.list(ids, wallClock.now()).result),
        close: () => Promise.resolve(),
      },
      ...noText,
      artifacts: {
        save: ({ key, output }) => Promise.resolve(service.save(key, output).result),
        cut: cutNowhere,
        keep: keptNowhere,
        close: () => Promise.resolve(),
      },
    };
  };
}
