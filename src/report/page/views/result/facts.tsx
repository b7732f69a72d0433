import type { JSX } from 'preact';
import type { PageDetail, PageResult } from '../../../results/wire.ts';
import { useApp } from '../../parts/use.ts';
import { count, duration, money, size, time } from '../../text/format.ts';

type Fact = readonly [name: string, value: string | undefined];

interface FactsProps {
  readonly result: PageResult;
  readonly detail: PageDetail;
}

/** The table of a result's variables, cost, tokens, times and origin. */
export function Facts({ result, detail }: FactsProps): JSX.Element {
  const { summary } = useApp().source;
  const variables = (summary?.variables ?? []).map(({ name }, n): Fact => [name, result.vars[n] ?? '']);
  const counts = Object.entries(detail.tokens ?? {}).map(([name, value]): Fact => [name, count(value)]);
  return (
    <>
      <Table name="Variables" facts={variables} />
      <Table
        name="Cost and time"
        facts={[
          ['Cost', shown(money, detail.cost)],
          ['Duration', shown(duration, result.seconds)],
          ['Submitted', shown(time, detail.submittedAt)],
          ['Finished', shown(time, result.finishedAt)],
          ['Attempts', shown(count, detail.attempts)],
        ]}
      />
      <Table name="Tokens" facts={counts} />
      <Table
        name="File"
        facts={[
          ['Picked', result.picked],
          ['Name', result.file],
          ['Size', shown(size, detail.bytes)],
          ['Pixels', result.width && result.height ? `${result.width} × ${result.height}` : undefined],
          ['Type', detail.mime],
          ['SHA-256', detail.sha256],
        ]}
      />
      <Table
        name="Request"
        facts={[
          ['Model', detail.model],
          ['Speed', detail.speed],
          ['Button', detail.button],
          ['Job', result.job],
          ['Task', detail.taskId],
          ['Parent task', detail.parentTaskId],
          ['Request id', detail.requestId],
          ['Finish reason', detail.finishReason],
          ['Block reason', detail.blockReason],
          ['Image address', detail.imageUrl],
        ]}
      />
    </>
  );
}

const shown = (format: (value: number) => string, value: number | undefined): string | undefined =>
  value === undefined ? undefined : format(value);

interface TableProps {
  readonly name: string;
  readonly facts: readonly Fact[];
}

function Table({ name, facts }: TableProps): JSX.Element | null {
  const known = facts.filter(([, value]) => value);
  if (known.length === 0) return null;
  return (
    <section>
      <h3>{name}</h3>
      <table class="facts">
        <tbody>
          {known.map(([label, value]) => (
            <tr key={label}>
              <th scope="row">{label}</th>
              <td>
                <bdi>{value}</bdi>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
