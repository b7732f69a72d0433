import type { Dispatcher } from 'undici';
import { afterEach, beforeEach } from 'vitest';
import type { ImageServiceOptions } from '../../../../src/service/client.ts';
import { createDispatcher } from '../../../../src/service/http/connect/dispatcher.ts';
import type { ImageService } from '../../../../src/service/image-service.ts';
import { type FakeService, startFakeService } from '../../../rig/fake-service.ts';
import { key, serviceWith } from '../../scripted-fetch.ts';

/** A gateway on a port, and connections to it. */
export interface Served {
  readonly gateway: FakeService;
  readonly client: (options?: Partial<ImageServiceOptions>) => ImageService;
}

/** Starts a gateway before each test of the file that calls this, and closes it after. */
export function serveEach(): Served {
  let gateway: FakeService;
  let dispatcher: Dispatcher;
  beforeEach(async () => {
    gateway = await startFakeService({ apiKey: key });
    dispatcher = createDispatcher({ connections: 4, connectMs: 5000 });
  });
  afterEach(async () => {
    await dispatcher.destroy();
    await gateway.close();
  });
  return {
    get gateway() {
      return gateway;
    },
    client: (options = {}) => serviceWith({ baseUrl: gateway.url, dispatcher, ...options }),
  };
}
