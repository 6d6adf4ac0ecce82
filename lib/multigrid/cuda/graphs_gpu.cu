/* SPDX-License-Identifier: BSD-3-Clause */
/* graphs_gpu.cu: steps of a level as a CUDA graph, whose kernels are one launch of the host. */
#include "multigrid/cuda/cuda_multigrid.cuh"

static int failed(cudaError_t e) { return lat_cuda_failed(e, "a graph of a multigrid"); }

static lat_mg_graph *find(lat_mg_gpu *g, const lat_mg_graph *as)
{
    for (lat_mg_graph &f : g->graphs)
        if (f.steps == as->steps && f.k == as->k && f.active == as->active && f.x == as->x)
            return &f;
    return NULL;
}

/* What the steps put into the stream, which runs none of it; NULL where there is no memory. */
static int capture(lat_level *l, lat_mg_steps *steps, int k, cudaGraphExec_t *to)
{
    const cudaStream_t stream = lat_mg_stream(l->coarse.dev);
    cudaGraph_t graph = NULL;
    if (failed(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed)))
        return -1;
    int rc = steps(l, k);
    const cudaError_t end = cudaStreamEndCapture(stream, &graph);
    if (rc == 0 && failed(end))
        rc = -1;
    if (rc == 0) {
        const cudaError_t e = cudaGraphInstantiateWithFlags(to, graph, 0);
        if (e == cudaErrorMemoryAllocation) {
            (void)cudaGetLastError();
            *to = NULL;
        } else
            rc = failed(e);
    }
    if (graph)
        cudaGraphDestroy(graph);
    return rc;
}

/* The first time the steps are launched one by one, which loads their kernels. */
int lat_mg_gpu_run(lat_level *l, lat_mg_steps *steps, int k)
{
    lat_mg_gpu *const g = lat_mg_gpu_of(&l->coarse);
    const lat_mg_graph as = {steps, k, l->coarse.active, l->x, NULL};
    lat_mg_graph *f = find(g, &as);
    if (!f) {
        f = &g->graphs[g->noted++ % LAT_MG_GRAPHS];
        if (f->graph)
            cudaGraphExecDestroy(f->graph);
        *f = as;
        return steps(l, k);
    }
    if (!f->graph && capture(l, steps, k, &f->graph))
        return -1;
    return f->graph ? failed(cudaGraphLaunch(f->graph, lat_mg_stream(l->coarse.dev))) : steps(l, k);
}

void lat_mg_gpu_graphs_close(lat_mg_gpu *g)
{
    for (lat_mg_graph &f : g->graphs)
        if (f.graph)
            cudaGraphExecDestroy(f.graph);
}
