/* SPDX-License-Identifier: Apache-2.0 */
/*
 * C := A B with ScaLAPACK's pdgemm, all matrices of size n x n, dealt out in blocks over a grid of 1 x ranks. Elements
 * are small whole numbers, so that the result is exact and every element can be compared. usage: mpirun -np RANKS
 * pdgemm N
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

void Cblacs_pinfo(int *rank, int *ranks);
void Cblacs_get(int context, int what, int *value);
void Cblacs_gridinit(int *context, const char *order, int rows, int columns);
void Cblacs_gridinfo(int context, int *rows, int *columns, int *row, int *column);
void Cblacs_gridexit(int context);
void Cblacs_exit(int goes_on);
int numroc_(const int *n, const int *block, const int *process, const int *source, const int *processes);
void descinit_(int descriptor[9], const int *m, const int *n, const int *row_block, const int *column_block,
               const int *row_source, const int *column_source, const int *context, const int *leading, int *info);
void pdgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k, const double *alpha,
             const double *a, const int *ia, const int *ja, const int a_descriptor[9], const double *b, const int *ib,
             const int *jb, const int b_descriptor[9], const double *beta, double *c, const int *ic, const int *jc,
             const int c_descriptor[9]);

enum { BLOCK = 64 };

static double get_a(int row, int column) {
    return (row * 7 + column * 3) % 9 - 4;
}

static double get_b(int row, int column) {
    return (row * 5 + column * 11) % 7 - 3;
}

/* Which column of the whole matrix a local one is. */
static int find_column(int local, int process, int processes) {
    return (local / BLOCK * processes + process) * BLOCK + local % BLOCK;
}

static long count_wrong(const double *c, int n, int columns, int process, int processes) {
    long wrong = 0;
    for (int local = 0; local < columns; local++)
        for (int row = 0; row < n; row++) {
            int column = find_column(local, process, processes);
            double sum = 0;
            for (int p = 0; p < n; p++)
                sum += get_a(row, p) * get_b(p, column);
            wrong += c[(long)local * n + row] != sum;
        }
    return wrong;
}

int main(int argc, char **argv) {
    const int n = argc > 1 ? atoi(argv[1]) : 1200, zero = 0, one = 1, block = BLOCK;
    const double unit = 1, none = 0;
    int rank, ranks, context, rows, row, process, info, descriptor[9];
    MPI_Init(&argc, &argv);
    Cblacs_pinfo(&rank, &ranks);
    Cblacs_get(-1, 0, &context);
    Cblacs_gridinit(&context, "Row", 1, ranks);
    Cblacs_gridinfo(context, &rows, &ranks, &row, &process);
    const int columns = numroc_(&n, &block, &process, &zero, &ranks);
    descinit_(descriptor, &n, &n, &block, &block, &zero, &zero, &context, &n, &info);
    double *matrices[3];
    for (int i = 0; i < 3; i++)
        if ((matrices[i] = malloc(((size_t)n * columns + 1) * sizeof(double))) == NULL || info != 0)
            MPI_Abort(MPI_COMM_WORLD, 2);
    for (int local = 0; local < columns; local++)
        for (int i = 0; i < n; i++) {
            int column = find_column(local, process, ranks);
            matrices[0][(size_t)local * n + i] = get_a(i, column);
            matrices[1][(size_t)local * n + i] = get_b(i, column);
        }
    double begin = MPI_Wtime();
    pdgemm_("N", "N", &n, &n, &n, &unit, matrices[0], &one, &one, descriptor, matrices[1], &one, &one, descriptor,
            &none, matrices[2], &one, &one, descriptor);
    double taken = MPI_Wtime() - begin;
    long wrong = count_wrong(matrices[2], n, columns, process, ranks), all = 0;
    MPI_Allreduce(&wrong, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("pdgemm %d x %d on %d ranks: %ld wrong elements, %.3f s\n", n, n, ranks, all, taken);
    for (int i = 0; i < 3; i++)
        free(matrices[i]);
    Cblacs_gridexit(context);
    Cblacs_exit(1);
    MPI_Finalize();
    return all != 0;
}
