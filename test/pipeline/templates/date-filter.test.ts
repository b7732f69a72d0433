import { describe, expect, test } from 'vitest';
import { render, thrown, written } from '../liquid-rig.ts';

describe('the date filter', () => {
  test.each([
    ['2026-03-08', '2026-03-08 00:00:00'],
    ['2026-03-08T02:30', '2026-03-08 02:30:00'],
    ['2026-03-08 02:30:05.25', '2026-03-08 02:30:05'],
    ['2026-03-08T02:30:05Z', '2026-03-08 02:30:05'],
    ['2026-03-08T02:30:05+05:30', '2026-03-07 21:00:05'],
    ['2026-03-08T02:30:05-0100', '2026-03-08 03:30:05'],
    ['0', '1970-01-01 00:00:00'],
    [86_400, '1970-01-02 00:00:00'],
    [written('86400.0'), '1970-01-02 00:00:00'],
  ])('reads %s in UTC', (value, text) => {
    expect(render('{{ d | date: "%F %T" }}', { d: value })).toBe(text);
  });

  test.each([
    ['2026-03-08T02:30:05.5Z', '05.500'],
    ['2026-03-08T02:30:05.05Z', '05.050'],
    ['2026-03-08T02:30:05.005Z', '05.005'],
    ['2026-03-08T02:30:05.0005Z', '05.000'],
    ['2026-03-08 02:30:05.9999', '05.999'],
    [86_405.5, '05.500'],
    [written('86405.25'), '05.250'],
  ])('keeps parts of a second of %s', (value, text) => {
    expect(render('{{ d | date: "%S.%L" }}', { d: value })).toBe(text);
  });

  test('does not depend on the zone of the machine', () => {
    const zone = process.env['TZ'];
    // An hour that does not exist in this zone's local time.
    process.env['TZ'] = 'America/New_York';
    try {
      expect(new Date(2026, 2, 8, 2, 30).getHours()).not.toBe(2);
      expect(render('{{ "2026-03-08T02:30" | date: "%H:%M" }}')).toBe('02:30');
    } finally {
      if (zone === undefined) delete process.env['TZ'];
      else process.env['TZ'] = zone;
    }
  });

  test('supports the directives of strftime, in English', () => {
    const all = '%A %a %B %b %-d %e %j %H %-I %l %M %S %L %p %P %y %C %u %w %s %z %Z %D %R %^a %%';
    expect(render(`{{ "2026-03-05T14:07:09.045Z" | date: "${all}" }}`)).toBe(
      'Thursday Thu March Mar 5  5 064 14 2  2 07 09 045 PM pm 26 20 4 4 1772719629 +0000 UTC 03/05/26 14:07 THU %',
    );
  });

  test('has its short forms', () => {
    const vars = { d: '2026-03-05T14:07:09Z' };
    expect(render('{{ d | date }}', vars)).toBe('2026-03-05');
    expect(render('{{ d | date_to_xmlschema }}', vars)).toBe('2026-03-05T14:07:09+00:00');
    expect(render('{{ d | date_to_rfc822 }}', vars)).toBe('Thu, 05 Mar 2026 14:07:09 +0000');
    expect(render('{{ d | date_to_string }}', vars)).toBe('05 Mar 2026');
    expect(render('{{ d | date_to_long_string }}', vars)).toBe('05 March 2026');
  });

  test('leaves an absent value absent', () => {
    expect(render('{{ d | date: "%Y" | default: "none" }}', { d: null })).toBe('none');
  });

  test.each([
    ['now'],
    ['Today'],
    [' now '],
    ['tomorrow'],
    ['March 5, 2026'],
    ['2026-02-30'],
    ['2026-13-01'],
    ['2026-01-01T25:00'],
    [true],
  ])('refuses %s', (value) => {
    expect(thrown(() => render('{{ d | date: "%Y" }}', { d: value })).code).toBe('template.filter');
  });

  test('refuses a zone and an unknown directive', () => {
    expect(thrown(() => render('{{ "2026-03-05" | date: "%F", "Asia/Tokyo" }}')).code).toBe(
      'template.filter',
    );
    expect(thrown(() => render('{{ "2026-03-05" | date: "%Q" }}')).message).toContain('%Q');
  });
});
