// Finds the data in the page.

/** The head, and the texts of the blobs by number. A column's blob is removed from the page when its last column has been
 *  read, because blobs are large. */
export function page_data(document) {
  const head_element = document.getElementById('margay-head');
  if (!head_element) {
    throw new Error('This page contains no trace: `margay trace view DIR` writes a page with one.');
  }
  const element = (number) => {
    const found = document.getElementById(`margay-blob-${number}`);
    if (!found) throw new Error(`Part ${number} of this page's data is missing: the file is incomplete.`);
    return found;
  };
  const head = JSON.parse(head_element.textContent);
  const uses = new Map();
  for (const table of Object.values(head.tables ?? {})) {
    for (const column of Object.values(table.columns ?? {})) uses.set(column.blob, (uses.get(column.blob) ?? 0) + 1);
  }
  return {
    head,
    blob: (number) => element(number).textContent,
    blob_once(number) {
      const found = element(number);
      const text = found.textContent;
      uses.set(number, (uses.get(number) ?? 1) - 1);
      if (uses.get(number) === 0) found.remove();
      return text;
    },
  };
}
