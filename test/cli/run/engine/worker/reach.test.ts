import { expect, it } from 'vitest';
import { startCrew } from '../crew-rig.ts';

const pipeline = `name: reach
service: { names: midjourney-proxy }
poll: { min: 20ms, max: 100ms }
matrix: { animal: [fox, owl, lynx] }
steps: { grid: { imagine: "{{ animal }}", path: "U1, V2" } }
`;

it('a worker finds the form of the key, and clicks by change where no buttons are shown', async () => {
  const gateway = { names: 'midjourney-proxy', auth: 'raw', buttonless: true } as const;
  await using crew = await startCrew(undefined, gateway);
  await crew.write('reach.yaml', pipeline);
  const { code, err } = await crew.pp('run', 'reach.yaml', '--engine', crew.database.url, '--queue', 'lease');
  expect(code, err).toBe(0);
  expect(err).toContain('service.auth: raw');
  expect(err).not.toContain(crew.service.apiKey);
  const rows = await crew.rows('runs/reach');
  expect(rows.map(({ status, speed }) => [status, speed])).toEqual(
    Array.from({ length: 9 }, () => ['done', '']),
  );
  expect([crew.service.count('change'), crew.service.count('action')]).toEqual([6, 0]);
});
