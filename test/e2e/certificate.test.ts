import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { certificates } from '../rig/certificates.ts';
import { cli, temporaryFolder } from '../rig/cli.ts';
import { write } from './pipelines.ts';

it('a certificate that cannot be verified ends the run at once, and NODE_EXTRA_CA_CERTS mends it', async () => {
  await using folder = await temporaryFolder();
  let requests = 0;
  const server = createServer({ key: certificates.key, cert: certificates.good }, (_request, response) => {
    requests += 1;
    response
      .writeHead(401, { 'content-type': 'application/json' })
      .end('{"error":{"message":"invalid token"}}');
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  await write(folder.path, {
    'own-ca.pem': certificates.ca,
    'secure.yaml':
      'name: secure\nmatrix: { seed: { from: 1, to: 30 } }\nsteps:\n  grid: { imagine: "a fox --seed {{ seed }}" }\n',
  });
  const env = {
    PROMPTPRESS_BASE_URL: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    PROMPTPRESS_API_KEY: 'a-key-of-sixteen-characters',
  };
  const refused = await cli(['run', 'secure.yaml'], { cwd: folder.path, env });
  expect([refused.code, requests], refused.stderr).toEqual([3, 0]);
  expect(refused.stderr).not.toContain('in flight');
  expect(refused.stderr).toMatch(/UNABLE_TO_VERIFY_LEAF_SIGNATURE[^]*NODE_EXTRA_CA_CERTS/);
  const knowing = { ...env, NODE_EXTRA_CA_CERTS: join(folder.path, 'own-ca.pem') };
  const answered = await cli(['run', 'secure.yaml'], { cwd: folder.path, env: knowing });
  server.closeAllConnections();
  server.close();
  expect(answered.code, answered.stderr).toBe(3);
  expect(requests).toBeGreaterThan(0);
  expect(answered.stderr).toContain('invalid token');
});
