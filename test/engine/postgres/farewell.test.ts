import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, it } from 'vitest';
import { wallClock } from '../../../src/cli/adapters/clock.ts';
import { parseEngineAddress } from '../../../src/engine/postgres/address.ts';
import { openPool } from '../../../src/engine/postgres/pool.ts';

/** A message of PostgreSQL's protocol: https://www.postgresql.org/docs/current/protocol-message-formats.html */
function message(kind: string, content: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(4 + content.length);
  return Buffer.concat([Buffer.from(kind), length, content]);
}

const fields = ['SFATAL', 'VFATAL', 'C57P01', 'Mterminating connection due to administrator command', ''];
const farewell = message('E', Buffer.from(`${fields.join('\0')}\0`));
const greeting = [message('R', Buffer.alloc(4)), message('Z', Buffer.from('I'))];

it('treats a server that shuts down in the packet that ends its startup as unavailable', async () => {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.on('error', () => undefined);
    socket.once('data', () => socket.end(Buffer.concat([...greeting, farewell])));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const address = parseEngineAddress(`postgres://someone@127.0.0.1:${port}/x`);
  const pool = await openPool(address, { clock: wallClock });
  await expect(pool.query('SELECT 1')).rejects.toMatchObject({ code: 'engine.away', mayPass: true });
  expect(connections).toBe(1);
  await pool.close();
  server.close();
});
