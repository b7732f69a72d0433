import { describe, expect, it } from 'vitest';
import { asked } from './postgres/asked.ts';
import { hasOwnPostgres, hasPostgres, ownServer, testDatabase } from './postgres.ts';

describe.skipIf(!hasPostgres)('a test database', () => {
  it('is empty, and gone once it is disposed of', async () => {
    let url = '';
    {
      await using database = await testDatabase();
      url = database.url;
      expect(await database.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
    }
    await expect(asked(url, 'SELECT 1')).rejects.toMatchObject({ code: '3D000' });
  });
});

describe.skipIf(!hasOwnPostgres)('a server of a test', () => {
  it('keeps what it has acknowledged through a crash', async () => {
    await using server = await ownServer();
    await asked(server.url(), 'CREATE TABLE kept (number int)');
    await asked(server.url(), 'INSERT INTO kept VALUES (7)');
    await server.crash();
    await expect(asked(server.url(), 'SELECT 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    await server.start();
    expect(await asked(server.url(), 'SELECT number FROM kept')).toEqual([{ number: 7 }]);
  });
});
