import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { fold } from '../../../text/fold.ts';
import { count } from '../../../text/format.ts';
import { lineOf } from '../../../text/names.ts';
import type { Group } from './groups.ts';

/** A group with more values than this has a box to find one. */
const few = 10;
/** Values that are shown at once. */
const shown = 100;

interface FilterGroupProps {
  readonly group: Group;
  readonly chosen: readonly string[];
  /** All values, where more are known than the summary lists. */
  readonly known: readonly string[] | undefined;
  readonly onToggle: (value: string) => void;
}

const shownAs = (value: string): string => (value === '' ? '(empty)' : lineOf(value));

/** The values of a variable, a step or a status, each with a box to check. */
export function FilterGroup({ group, chosen, known, onToggle }: FilterGroupProps): JSX.Element {
  const [sought, seek] = useState('');
  const counts = new Map(group.values);
  const all = group.distinct > group.values.length && known ? known : group.values.map(([value]) => value);
  const folded = fold(sought);
  const fitting = folded === '' ? all : all.filter((value) => fold(value).includes(folded));
  const exact = sought !== '' && !all.includes(sought) && group.distinct > all.length ? [sought] : [];
  const missing = chosen.filter((value) => !fitting.includes(value) && !exact.includes(value));
  const listed = [...missing, ...exact, ...fitting.slice(0, shown)];
  return (
    <fieldset class="group">
      <legend>{group.name}</legend>
      {group.distinct > few ? (
        <input
          type="search"
          class="find"
          aria-label={`Find ${group.name}`}
          placeholder={`Find one of ${count(group.distinct)}`}
          value={sought}
          onInput={(event) => seek(event.currentTarget.value)}
        />
      ) : null}
      <div class="values">
        {listed.map((value) => (
          <label key={value} class="value">
            <input
              type="checkbox"
              aria-label={shownAs(value)}
              checked={chosen.includes(value)}
              onChange={() => onToggle(value)}
            />
            <span class="name" title={value}>
              <bdi>{shownAs(value)}</bdi>
            </span>
            <span class="count">{counts.has(value) ? count(counts.get(value) ?? 0) : ''}</span>
          </label>
        ))}
      </div>
      {fitting.length > shown ? (
        <p class="hint">{count(fitting.length - shown)} more: type to find one</p>
      ) : null}
      {listed.length === 0 ? <p class="hint">None</p> : null}
    </fieldset>
  );
}
