// Finds the first free slot of a technician.

/**
 * @param {string} technician name of the technician
 * @param {string} day in the form 2027-03-01
 * @param {number} minutes length of the visit
 */
export function firstFree(technician, day, minutes) {
  const visits = calendar.on(day).filter((visit) => visit.technician === technician);
  let start = 8 * 60; // the desk opens at eight
  for (const visit of visits) {
    if (visit.start - start >= minutes) {
      return start;
    }
    start = visit.start + visit.minutes;
  }
  return 18 * 60 - start >= minutes ? start : null;
}
