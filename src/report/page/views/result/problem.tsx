import type { JSX } from 'preact';
import type { PageDetail, PageResult } from '../../../results/wire.ts';
import { Command } from '../../parts/copy.tsx';
import { Icon } from '../../parts/icon.tsx';

/** What went wrong with a result, and what to do. */
export function Problem(props: {
  readonly result: PageResult;
  readonly detail: PageDetail;
}): JSX.Element | null {
  const { errorCode, errorMessage } = props.result;
  const { advice, commands = [] } = props.detail;
  if (errorCode === undefined && errorMessage === undefined && advice === undefined) return null;
  return (
    <section class="problem" aria-label="Error">
      <h3>
        <Icon of="alert" /> {errorCode ?? 'Error'}
      </h3>
      {errorMessage ? <p dir="auto">{errorMessage}</p> : null}
      {advice ? <p class="advice">{advice}</p> : null}
      {commands.map((line) => (
        <Command key={line} line={line} />
      ))}
    </section>
  );
}
